"""The chapter "How alike" of the lesson "Tokens to vectors"."""

import math
import re

from llmviz.corpus.probes import RELATIONS
from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.similarity import METRICS

words = beside(__file__)

MOST_NUMBERS = 64  # of a vector that is typed
MOST_NEIGHBOURS = 30
MOST_WORDS = 16  # of a list
TYPED = {"v1": "0.2, 0.4, 0.9", "v2": "0.1, 0.5, 0.8", "v3": "0.7, 0.2, 0.1"}


def parse_vector(written: str) -> list[float]:
    """Read numbers with commas, semicolons or spaces between them.

    Raises ValueError naming the place: there is none, one is no number, not finite or too large.

    >>> parse_vector("0.2, -1 3e2")
    [0.2, -1.0, 300.0]
    """
    parts = [part for part in re.split(r"[,;\s]+", written.replace("−", "-")) if part]
    if not parts:
        raise ValueError(words.refused["none"])
    if len(parts) > MOST_NUMBERS:
        raise ValueError(words.refused["many"].format(most=MOST_NUMBERS, count=len(parts)))
    return [_number(part, place) for place, part in enumerate(parts, 1)]


def _number(part: str, place: int) -> float:
    try:
        value = float(part)
    except ValueError:
        raise ValueError(words.refused["word"].format(place=place, part=part[:20])) from None
    if not math.isfinite(value) or abs(value) > 1e6:
        raise ValueError(words.refused["large"].format(place=place, part=part[:20]))
    return value


PARAMS = [
    codec.choice(
        "look", "pair", list(words.parts), moved=dict.fromkeys(("list", "analogy"), "pair")
    ),
    codec.choice("kind", "words", list(words.kinds)),
    codec.text("s1", "the cat chased the dog", 2_000),
    codec.text("s2", "the dog chased the cat", 2_000),
    *(codec.text(key, numbers, 2_000) for key, numbers in TYPED.items()),
    codec.choice("pair", "12", list(words.pairs)),
    codec.text("kept", ""),
    codec.text("open", ""),
    codec.choice("metric", "cosine", METRICS),
    codec.integer("k", 10, 1, MOST_NEIGHBOURS),
    codec.text("plus", "king"),
    codec.text("minus", "man"),
    codec.text("add", "woman"),
    codec.choice("relation", "pairs", RELATIONS),
    codec.flag("inputs", False),
    codec.text("listed", ""),  # the kept cell of the list
    codec.text("list", "king, queen, man, woman, cat, dog, kitten, red, blue, six, seven", 2_000),
]
