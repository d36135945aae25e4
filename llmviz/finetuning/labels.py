"""Texts with labels: stories labelled by the grammar, or lines of the learner's own."""

from __future__ import annotations

import csv
import io
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llmviz.corpus import generate
from llmviz.corpus.action_productions import GIFTS
from llmviz.corpus.exercises import holders
from llmviz.corpus.words import words
from llmviz.files.text import check_text, read_text_file

FEWEST_CLASSES, MOST_CLASSES = 2, 10
FEWEST_EXAMPLES = 2  # of each class: one to train on, one to test
MOST_TEXTS = 20_000
LIMIT = 2 * 2**20  # bytes of a file
LONGEST_LABEL = 40  # characters
TEXT, LABEL = "text", "label"  # the columns of a table
ENDINGS_OF_TABLES = (".csv", ".tsv")
SEPARATORS = ",;\t"  # of cells: the first with which the first row names both columns
MOST_NAMED = 10  # lines that a refusal lists
_SEED_OFFSET = 2_000_003  # so that labelled stories are not those that the models have read


@dataclass(frozen=True)
class Labelled:
    """Texts, the number of each one's class, and the names of the classes.

    Raises ValueError for fewer than 2 or more than 10 classes, a class with fewer than 2 texts, and
    an empty text.
    """

    texts: tuple[str, ...]
    labels: tuple[int, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.labels):
            raise ValueError(
                f"each text needs one label; got {len(self.texts)} and {len(self.labels)}"
            )
        if not FEWEST_CLASSES <= len(self.names) <= MOST_CLASSES:
            raise ValueError(
                f"there must be {FEWEST_CLASSES} to {MOST_CLASSES} different labels; "
                f"got {len(self.names)}" + (f": {self.names[0]!r}" if len(self.names) == 1 else "")
            )
        if len(self.texts) > MOST_TEXTS:
            raise ValueError(f"there must be at most {MOST_TEXTS:,} texts; got {len(self.texts):,}")
        if empty := [number for number, text in enumerate(self.texts, 1) if not text.strip()]:
            raise ValueError(f"a text must not be empty; {_numbered('number', empty, 'is', 'are')}")
        if few := [(name, n) for name, n in self.counts.items() if n < FEWEST_EXAMPLES]:
            raise ValueError(
                f"each label needs at least {FEWEST_EXAMPLES} texts, one to train on and one "
                f"to test; {', '.join(f'{name!r} has {n}' for name, n in few)}"
            )

    @property
    def counts(self) -> dict[str, int]:
        """How many texts each class has."""
        by_number = Counter(self.labels)
        return {name: by_number[number] for number, name in enumerate(self.names)}

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Labelled:
        """From (text, label) pairs; classes are numbered in the order of their names."""
        pairs = list(pairs)
        names = sorted({label for _, label in pairs})
        numbers = {name: number for number, name in enumerate(names)}
        texts = tuple(text for text, _ in pairs)
        return cls(texts, tuple(numbers[label] for _, label in pairs), tuple(names))

    def split(self, fraction: float = 0.2, seed: int = 0) -> tuple[Labelled, Labelled]:
        """Return (training, test) with the same share of each class in both, at least one text.

        A class of fewer than four texts has one of them in the test; so the parts may be smaller
        than a `Labelled` of its own could be. Raises ValueError for a fraction not between 0 and 1.
        """
        if not 0 < fraction < 1:
            raise ValueError(f"fraction must be above 0 and below 1; got {fraction}")
        chance, test = random.Random(seed), set()
        for number in range(len(self.names)):
            own = [i for i, label in enumerate(self.labels) if label == number]
            chance.shuffle(own)
            test |= set(own[: min(len(own) - 1, max(1, round(fraction * len(own))))])
        rest = [i for i in range(len(self.texts)) if i not in test]
        return self._part(rest), self._part(sorted(test))

    def first(self, count: int, seed: int = 0) -> Labelled:
        """Return `count` of the texts, drawn at random but with one of each class at least.

        Raises ValueError for fewer texts than classes, or more than there are.
        """
        if not len(self.names) <= count <= len(self.texts):
            raise ValueError(
                f"examples must be from {len(self.names)}, one of each label, to "
                f"{len(self.texts)}; got {count}"
            )
        order = random.Random(seed).sample(range(len(self.texts)), len(self.texts))
        ahead = [next(i for i in order if self.labels[i] == k) for k in range(len(self.names))]
        rest = [i for i in order if i not in set(ahead)]
        return self._part((ahead + rest)[:count])

    def _part(self, chosen: Sequence[int]) -> Labelled:
        part = object.__new__(Labelled)  # a part may have one text of a class
        object.__setattr__(part, "texts", tuple(self.texts[i] for i in chosen))
        object.__setattr__(part, "labels", tuple(self.labels[i] for i in chosen))
        object.__setattr__(part, "names", self.names)
        return part


# --- from the grammar ---------------------------------------------------------------------------

ENDINGS = {
    "That was ": "it is summed up",
    "In the end ": "somebody eats",
    "And so ": "somebody gets a job",
    "Nobody ever ": "somebody is remembered",
    "And the ": "somebody keeps a thing",
}
_GLAD = """amused cheerful confident content delighted excited glad grateful hopeful inspired joyful
    merry optimistic proud relaxed relieved satisfied"""
_SORRY = """afraid angry annoyed anxious ashamed bored confused cross disappointed embarrassed
    envious exhausted frightened furious gloomy guilty helpless homesick jealous miserable nervous
    sad scared sick sorry troubled uneasy upset weary worried"""
GLAD, SORRY = tuple(_GLAD.split()), tuple(_SORRY.split())
"""Feelings that a story can end with; those that are neither are left out."""


def ending(story: str) -> str:
    """Return how a story ends: what its last sentence tells."""
    last = story.rsplit(". ", 1)[-1]
    return next(name for lead, name in ENDINGS.items() if last.startswith(lead))


def mood(story: str) -> str | None:
    """Return "glad" or "sorry" by the feeling that a story ends with; None if it has neither."""
    last = story.rsplit(". ", 1)[-1].replace(".", "").split()
    if last[0] != "In":
        return None
    feeling = last[last.index("was") + 1]
    return "glad" if feeling in GLAD else "sorry" if feeling in SORRY else None


def about(story: str) -> str:
    """Return what a story is about: a gift, a thing that is found and kept, or people alone."""
    if any(f" {verb}" in story for verb in GIFTS):
        return "a gift"
    return "a find" if holders(story) else "people"


def who(story: str) -> str:
    """Return whom a story is about, the person it names first: "a woman" or "a man"."""
    girls, boys = set(words("girls")), set(words("boys"))
    first = next(w for w in story.replace(",", "").split() if w in girls or w in boys)
    return "a woman" if first in girls else "a man"


TASKS: dict[str, Callable[[str], str | None]] = {
    "ending": ending,
    "mood": mood,
    "about": about,
    "who": who,
}
"""What can be asked about a story, with the function that answers it exactly."""


def stories(task: str, count: int, seed: int = 0) -> Labelled:
    """Return `count` stories with their labels; the same ones for the same arguments.

    Raises ValueError for an unknown task or fewer stories than make two of each class.
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(TASKS)}; got {task!r}")
    pairs: list[tuple[str, str]] = []
    for document in generate(count=100 * count + 1000, seed=seed + _SEED_OFFSET):
        if len(pairs) == count:
            break
        label = TASKS[task](document.text)
        if label is not None:
            pairs.append((document.text, label))
    return Labelled.of(pairs)


# --- the learner's own --------------------------------------------------------------------------


def from_lines(typed: str) -> Labelled:
    """Return texts typed one a line, as `label: text`; empty lines are left out.

    Raises ValueError naming the lines that have no label or no text, and as `Labelled`.
    """
    pairs, wrong = [], []
    for number, line in enumerate(check_text(typed).splitlines(), 1):
        if not line.strip():
            continue
        label, colon, text = line.partition(":")
        if not colon or not label.strip() or not text.strip():
            wrong.append((number, line))
            continue
        pairs.append((text.strip(), _label(label, number)))
    if wrong:
        must = _numbered("line", [number for number, _ in wrong], "must", "must")
        raise ValueError(f"{must} be `label: text`; got {_short(wrong[0][1])!r}")
    return Labelled.of(pairs)


def from_csv(source: str | Path | bytes) -> Labelled:
    """Return the texts of a UTF-8 table with the columns `text` and `label`, in any order.

    Cells are separated by commas, semicolons (as by a spreadsheet where a comma stands before
    decimals) or tabs. Other columns are left out. A cell that holds separators, quotes or line ends
    is written in double quotes, as in any CSV file; markup is text like any other.

    Raises ValueError for a file above 2 MB, one that is not UTF-8, a column that is missing, a row
    with another number of cells, rows without a label (naming each), and as `Labelled`.
    """
    text = read_text_file(source, LIMIT)
    rows = _rows(text, _separator(text))
    try:
        head = _names(next(rows, []))
        if missing := [repr(column) for column in (TEXT, LABEL) if head.count(column) != 1]:
            names = ", ".join(_short(cell) for cell in head[:10]) or "nothing"
            raise ValueError(
                f"the first row must name one column {' and one '.join(missing)}, "
                f"and it names {names}"
            )
        at_text, at_label = head.index(TEXT), head.index(LABEL)
        pairs, bare = [], []
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(head):
                raise ValueError(
                    f"line {rows.line_num} must have {len(head)} cells; got {len(row)}"
                )
            if not row[at_label].strip():
                bare.append(rows.line_num)
            pairs.append((row[at_text].strip(), _label(row[at_label], rows.line_num)))
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num} is not CSV: {error}") from error
    if bare:
        raise ValueError(f"{_numbered('line', bare, 'has', 'have')} no label")
    return Labelled.of(pairs)


def _rows(text: str, separator: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def _names(row: Sequence[str]) -> list[str]:
    return [cell.strip().lower() for cell in row]


def _separator(text: str) -> str:
    """Return what separates the cells of a table: a comma where its first row does not tell."""
    for separator in SEPARATORS:
        try:
            head = _names(next(_rows(text, separator), []))
        except csv.Error:
            continue
        if TEXT in head and LABEL in head:
            return separator
    return SEPARATORS[0]


def _label(label: str, line: int) -> str:
    label = " ".join(label.split())
    if len(label) > LONGEST_LABEL:
        raise ValueError(
            f"a label has at most {LONGEST_LABEL} characters; line {line} has {len(label)}"
        )
    return label


def _numbered(noun: str, numbers: Sequence[int], singular: str, plural: str) -> str:
    """Return a subject and its verb.

    >>> _numbered("line", [2], "has", "have"), _numbered("line", [2, 5, 9], "has", "have")
    ('line 2 has', 'lines 2, 5 and 9 have')
    """
    if len(numbers) == 1:
        return f"{noun} {numbers[0]} {singular}"
    if len(numbers) > MOST_NAMED:
        ahead, last = numbers[:MOST_NAMED], f"{len(numbers) - MOST_NAMED:,} more"
    else:
        ahead, last = numbers[:-1], str(numbers[-1])
    return f"{noun}s {', '.join(map(str, ahead))} and {last} {plural}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"
