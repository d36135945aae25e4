"""The first sentences of stories, as tokens in a fixed number of places.

N texts, T places of a text.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from llmviz.corpus.grammar_likelihood import kept_characters
from llmviz.corpus.story_productions import tell
from llmviz.corpus.tiny_world import generate
from llmviz.corpus.writer import Reader, Sampler

EMPTY = ""  # the token of a place behind the end of the sentence


class _ToldError(Exception):
    """The first sentence is whole."""


class _Opener(Sampler):
    """Writes a story as far as the end of its first sentence."""

    def say(self, text: str) -> None:
        Sampler.say(self, text)
        if text.endswith(". "):
            raise _ToldError


def sentences(count: int, seed: int) -> list[str]:
    """Return the first sentences of stories."""
    chance, texts = random.Random(seed), []
    for _ in range(count):
        writer = _Opener(chance=chance)
        with suppress(_ToldError):
            tell(writer)
        texts.append(writer.text.rstrip())
    return texts


def _end(story: str) -> int:
    return story.index(". ") + 1


def cut(sentence: str) -> list[str]:
    """Return the words and marks of a sentence.

    >>> cut("Once, a baker.")
    ['Once', ',', 'a', 'baker', '.']
    """
    return re.findall(r"\w+|[^\w\s]", sentence)


def joined(tokens: Sequence[str]) -> str:
    """Return the text of tokens, in which an empty place between two others is a gap."""
    text = " ".join(token or "_" for token in tokens).rstrip("_ ")
    return re.sub(r" ([^\w\s])", r"\1", text)


def is_right(tokens: Sequence[str]) -> bool:
    """Say whether the grammar can begin a story with this sentence.

    >>> is_right(["Once", "there", "was", "a"])
    False
    """
    text = joined(tokens)
    return text.find(".") == len(text) - 1 and kept_characters(text + " ") == len(text) + 1


def followed(tokens: Sequence[str]) -> str:
    """Return the longest beginning of whole tokens with which a story can begin.

    >>> followed(["Long", "ago", ",", "in", "a", "haunted", "city", ",", "clockmaker"])
    'Long ago, in a haunted city,'
    """
    for count in range(len(tokens), 0, -1):
        text = joined(tokens[:count])
        if any(kept_characters(text + mark) > len(text) for mark in " ,."):
            return text
    return ""


def nats_by_opening(count: int = 500) -> dict[str, float]:
    """Return −ln p of a first sentence for each word that it can begin with.

    Behind its first word every choice is among equally likely ones, so sentences that begin alike
    are equally probable. The mean of the values is the entropy, as the first words are, too.
    """
    found: dict[str, float] = {}
    for story in generate(count, 0):
        reader = Reader(text=story.text)
        tell(reader)
        nats = -math.fsum(p for at, p in reader.choices if at < _end(story.text))
        if abs(found.setdefault(story.text.split()[0], nats) - nats) > 1e-9:
            raise ValueError("two sentences that begin alike are not equally probable")
    return found


def rows_of(texts: Sequence[str], vocabulary: Sequence[str], places: int) -> np.ndarray:
    """Return texts as ids (N, T) of so many places, filled up with empty ones."""
    ids = {token: at for at, token in enumerate(vocabulary)}
    rows = [(cut(text) + [EMPTY] * places)[:places] for text in texts]
    return np.array([[ids[token] for token in row] for row in rows], np.int64)
