"""What a run's loss is a mean over, tokens or pairs of words, and the names of the axes for it."""

import math
from collections.abc import Iterable
from typing import Any

from llmviz.course.lessons.training import words as words
from llmviz.models.catalogue import able

TOKEN, PAIR = "token", "pair"


def counted(description: dict[str, Any]) -> str:
    """What a run's loss is counted per, from its config.json."""
    return PAIR if able(description["model"]["name"], "word_vectors") else TOKEN


def random_words(description: dict[str, Any]) -> int:
    """Against how many random words word2vec holds each pair, K."""
    return int(description["model"]["config"]["negatives"])


def blind(description: dict[str, Any]) -> float:
    """The loss of a pair, in nats, where each of its 1 + K questions is answered by ½."""
    return (1 + random_words(description)) * math.log(2)


def units(kinds: Iterable[str]) -> dict[str, str]:
    """What the axis of the loss says for runs that count so."""
    kinds_used = set(kinds)
    if kinds_used == {TOKEN}:
        return words.run_chart_units
    return words.run_chart_units_pairs if kinds_used == {PAIR} else words.run_chart_units_both


def note(kinds: Iterable[str]) -> str:
    """A note for runs whose losses cannot be compared with each other."""
    return words.run_chart_counted if len(set(kinds)) > 1 else ""
