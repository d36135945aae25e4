"""A rule that is only shown: how often the model follows it after so many examples."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.reader import Reads, words_after

MOST_SHOWN = 4
ASKED = 10
ARROW = " -> "

Pair = tuple[str, str]
# The first four are shown, one after another; the others are asked.
RULES: dict[str, tuple[Pair, ...]] = {
    "opposites": (
        *(("hot", "cold"), ("big", "small"), ("day", "night"), ("old", "young")),
        *(("up", "down"), ("left", "right"), ("open", "closed"), ("black", "white")),
        *(("rich", "poor"), ("happy", "sad"), ("good", "bad"), ("love", "hate")),
        *(("early", "late"), ("hard", "soft")),
    ),
    "plurals": (
        *(("cat", "cats"), ("house", "houses"), ("child", "children"), ("tree", "trees")),
        *(("dog", "dogs"), ("box", "boxes"), ("man", "men"), ("foot", "feet")),
        *(("city", "cities"), ("book", "books"), ("mouse", "mice"), ("woman", "women")),
        *(("leaf", "leaves"), ("car", "cars")),
    ),
    "past": (
        *(("go", "went"), ("walk", "walked"), ("see", "saw"), ("take", "took")),
        *(("eat", "ate"), ("play", "played"), ("come", "came"), ("write", "wrote")),
        *(("run", "ran"), ("buy", "bought"), ("sing", "sang"), ("talk", "talked")),
        *(("give", "gave"), ("know", "knew")),
    ),
    "capitals": (
        *(("France", "Paris"), ("Italy", "Rome"), ("Egypt", "Cairo"), ("Japan", "Tokyo")),
        *(("Spain", "Madrid"), ("Germany", "Berlin"), ("Russia", "Moscow"), ("Greece", "Athens")),
        *(("Poland", "Warsaw"), ("China", "Beijing"), ("Norway", "Oslo"), ("Peru", "Lima")),
        *(("Kenya", "Nairobi"), ("Portugal", "Lisbon")),
    ),
}


class Answer(NamedTuple):
    """A word, what the model puts behind the arrow, and whether the rule wants that."""

    word: str
    said: str
    right: bool


class Round(NamedTuple):
    """The answers after `shown` examples."""

    shown: int
    answers: tuple[Answer, ...]

    @property
    def right(self) -> int:
        """How many of them are right."""
        return sum(answer.right for answer in self.answers)


def prompt(shown: Sequence[Pair], word: str) -> str:
    """Return what the model reads.

    >>> prompt([("hot", "cold")], "up")
    'hot -> cold, up ->'
    """
    return "".join(f"{a}{ARROW}{b}, " for a, b in shown) + f"{word}{ARROW}".rstrip()


def written(pairs: Sequence[Pair]) -> str:
    """Return pairs as one types them, a line for each."""
    return "\n".join(f"{a}{ARROW}{b}" for a, b in pairs)


def read(text: str) -> list[Pair]:
    """Return the pairs of a text, a line for each. Raises ValueError naming a line that is none.

    A page's message draws the arrow as one sign, so that is taken, too.

    >>> read("hot -> cold\\n\\n up → down")
    [('hot', 'cold'), ('up', 'down')]
    """
    pairs = []
    for line in filter(None, map(str.strip, text.splitlines())):
        a, arrow, b = (part.strip() for part in line.replace("→", "->").partition("->"))
        if not (a and arrow and b):
            raise ValueError(lesson_words.refused["line"].format(line=line))
        pairs.append((a, b))
    return pairs


def measure(reader: Reads, text: str) -> Generator[float, None, tuple[Round, ...]]:
    """Ask for all pairs behind the first four, with 0 to 4 of those in front.

    Yields how much is done. Raises ValueError: there are too few pairs, or a line is none.
    """
    pairs, most = read(text), MOST_SHOWN
    asked = pairs[most : most + ASKED]
    if not asked:
        raise ValueError(lesson_words.refused["pairs"].format(least=most + 1, most=most))
    rounds = []
    for count in range(most + 1):
        said = words_after(reader, [prompt(pairs[:count], word) for word, _ in asked])
        rounds.append(
            Round(
                count,
                tuple(
                    Answer(word, choice.text, choice.text.casefold() == wanted.casefold())
                    for (word, wanted), choice in zip(asked, said, strict=True)
                ),
            )
        )
        yield (count + 1) / (most + 1)
    return tuple(rounds)
