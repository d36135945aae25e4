"""What a class answered in the two tests, counted: by question, by how many are right, by kind."""

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llmviz.course.lessons.before_after import AFTER, BEFORE
from llmviz.course.lessons.before_after.two_tests import TESTS
from llmviz.course.ui.class_answers import Answered, Ask, as_cell

TEN = 10
TIMES = (BEFORE, AFTER)
KINDS = ("data", "chance", "mechanism", "mind", "other")
HEAD = ("when", "test", "what", "text", "right", "count")
WHOLE, KIND, OWN = "right of all", "kind", "own words: "  # in the column "what"
MOST_BYTES = 1_000_000  # of a file of counts
MOST_COUNT = 100_000  # of one row
Asks = Mapping[tuple[str, str], Sequence[Ask]]  # by when and test: ten, and the one in own words


@dataclass
class Counts:
    """What a class answered before the course, or after it, in both tests together.

    answered, right: of each question, how many answered it, and how many rightly. whole: by the
    number of right answers, how many of those who answered all ten. people: how many answered
    anything. words: by the name of the question in own words and by the words, how many wrote
    them. kinds: by kind, how many wrote what the presenter sorted into it.
    """

    answered: list[int]
    right: list[int]
    whole: Counter[int] = field(default_factory=Counter)
    people: int = 0
    words: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)


def counted(asks: Asks, known: Mapping[str, Answered]) -> dict[str, Counts]:
    """Return the counts by when; known: what the class was asked, by name."""
    found: dict[str, Counts] = {}
    people: dict[str, set[str]] = {}
    for (when, _), (*ten, own) in asks.items():
        counts = found.setdefault(when, Counts([0] * len(ten), [0] * len(ten)))
        who = people.setdefault(when, set())
        gave = [_given(ask, known) for ask in ten]
        for at, (ask, given) in enumerate(zip(ten, gave, strict=True)):
            counts.answered[at] += len(given)
            counts.right[at] += sum(answer == ask.right for answer in given.values())
            who.update(given)
        for person in set.intersection(*map(set, gave)):
            pairs = zip(ten, gave, strict=True)
            counts.whole[sum(given[person] == ask.right for ask, given in pairs)] += 1
        if own.name in known:
            said = {person: text for person, text in known[own.name].own_words.items() if text}
            who.update(said)
            counts.words.update((own.name, text) for text in said.values())
            sorted_into = known[own.name].kinds
            counts.kinds.update(filter(None, (sorted_into.get(text) for text in said.values())))
    for when, who in people.items():
        found[when].people = len(who)
    return found


def _given(ask: Ask, known: Mapping[str, Answered]) -> dict[str, int]:
    """The answers to a question, without those that there are not."""
    if ask.name not in known:
        return {}
    there = range(len(ask.answers))
    return {who: answer for who, answer in known[ask.name].given.items() if answer in there}


def table(asks: Asks, known: Mapping[str, Answered]) -> str:
    """Return all counts as CSV without names; own words stand by their letters."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(HEAD)
    for (when, test), (*ten, own) in asks.items():
        for number, ask in enumerate(ten, 1):
            number_of = Counter(_given(ask, known).values())
            for at, answer in enumerate(ask.answers):
                right = int(at == ask.right)
                rows.writerow([when, test, number, as_cell(answer), right, number_of[at]])
        alone = counted({(when, test): (*ten, own)}, known)[when]
        for right in range(len(ten) + 1):
            rows.writerow([when, test, WHOLE, right, "", alone.whole[right]])
        for kind in KINDS:
            rows.writerow([when, test, KIND, kind, "", alone.kinds[kind]])
        kinds = known[own.name].kinds if own.name in known else {}
        for (_, text), count in sorted(alone.words.items()):
            kind = kinds.get(text, "")
            rows.writerow([when, test, f"{OWN}{kind}", as_cell(text), "", count])
    return out.getvalue()


def read_table(data: bytes) -> dict[str, Counts]:
    """Return the counts of a file that `table` wrote, by when; not how many people there were.

    Raises ValueError: it is no such file.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"a file of counts has at most {MOST_BYTES // 1000:,} kB")
    try:
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"this is no file of counts: {error}") from None
    if not rows or tuple(rows[0]) != HEAD:
        raise ValueError(f"a file of counts begins with {','.join(HEAD)}")
    found = {when: Counts([0] * TEN, [0] * TEN) for when in TIMES}
    for number, row in enumerate(rows[1:], 2):
        if row:
            try:
                _add_row(found, *row)
            except (ValueError, TypeError, KeyError):
                raise ValueError(f"line {number} of the file is no row of counts") from None
    return found


def _add_row(
    found: dict[str, Counts], when: str, test: str, what: str, text: str, right: str, count: str
) -> None:
    counts, number = found[when], int(count)
    if test not in TESTS or not 0 <= number <= MOST_COUNT:
        raise ValueError(count)
    if what.isdecimal():
        at = range(1, TEN + 1).index(int(what))
        counts.answered[at] += number
        counts.right[at] += number if right == "1" else 0
    elif what == WHOLE:
        counts.whole[range(TEN + 1).index(int(text))] += number
    elif what == KIND:
        counts.kinds[KINDS[KINDS.index(text)]] += number
    elif what.startswith(OWN):
        counts.words["", text] += number
    else:
        raise ValueError(what)


def together(now: Mapping[str, Counts], earlier: Mapping[str, Counts]) -> dict[str, Counts]:
    """Return the counts of a class and of an earlier one, added."""
    added = {}
    for when, counts in now.items():
        other = earlier.get(when) or Counts([0] * TEN, [0] * TEN)
        added[when] = Counts(
            [a + b for a, b in zip(counts.answered, other.answered, strict=True)],
            [a + b for a, b in zip(counts.right, other.right, strict=True)],
            counts.whole + other.whole,
            counts.people,
            counts.words + other.words,
            counts.kinds + other.kinds,
        )
    return added
