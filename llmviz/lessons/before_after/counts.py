"""What a class answered in the two tests, counted: by question, by how many are right, by kind."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llmviz.ui.class_answers import Ask, Asked, as_cell

KINDS = ("data", "chance", "mechanism", "mind", "other")
HEAD = ("when", "test", "what", "text", "right", "count")
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


def counted(asks: Asks, known: Mapping[str, Asked]) -> dict[str, Counts]:
    """Return the counts by when; known: what the class was asked, by name."""
    found: dict[str, Counts] = {}
    people: dict[str, set[str]] = {}
    for (when, _), (*ten, own) in asks.items():
        one = found.setdefault(when, Counts([0] * len(ten), [0] * len(ten)))
        who = people.setdefault(when, set())
        gave = [_given(ask, known) for ask in ten]
        for at, (ask, given) in enumerate(zip(ten, gave, strict=True)):
            one.answered[at] += len(given)
            one.right[at] += sum(answer == ask.right for answer in given.values())
            who.update(given)
        for person in set.intersection(*map(set, gave)):
            pairs = zip(ten, gave, strict=True)
            one.whole[sum(given[person] == ask.right for ask, given in pairs)] += 1
        if own.name in known:
            said = {person: text for person, text in known[own.name].said.items() if text}
            who.update(said)
            one.words.update((own.name, text) for text in said.values())
            sorted_into = known[own.name].kinds
            one.kinds.update(filter(None, (sorted_into.get(text) for text in said.values())))
    for when, who in people.items():
        found[when].people = len(who)
    return found


def _given(ask: Ask, known: Mapping[str, Asked]) -> dict[str, int]:
    """The answers to a question, without those that there are not."""
    if ask.name not in known:
        return {}
    there = range(len(ask.answers))
    return {who: answer for who, answer in known[ask.name].given.items() if answer in there}


def table(asks: Asks, known: Mapping[str, Asked]) -> str:
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
            rows.writerow([when, test, "right of all", right, "", alone.whole[right]])
        for kind in KINDS:
            rows.writerow([when, test, "kind", kind, "", alone.kinds[kind]])
        kinds = known[own.name].kinds if own.name in known else {}
        for (_, text), count in sorted(alone.words.items()):
            kind = kinds.get(text, "")
            rows.writerow([when, test, f"own words: {kind}", as_cell(text), "", count])
    return out.getvalue()
