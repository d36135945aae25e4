"""How often the passage that answers a question is among the first ones, for each way to rank.

`python -m experiments make passage-recall` measures it again, under a minute, and writes
`data/experiments/passage-recall.json`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llmviz.course.lessons.reasoning.retrieval.passage_ranking import (
    BM,
    TFIDF,
    VECTORS,
)
from llmviz.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

FILE = "passage-recall.json"
COMMAND = "python -m experiments make passage-recall"
PIECES = "pieces"  # the mean of the story model's embeddings, which cut any word into tokens
WAYS = (BM, TFIDF, VECTORS, PIECES)
TABLES = {VECTORS: "tiny-world-word2vec", PIECES: "tiny-world-gpt"}
AMONG = (1, 2, 3, 5, 10)  # how many passages are taken
PARTS, STORIES = (0, 1, 2), 60  # of tiny-world, and stories in each
WORLD, STORY = "tiny-world", "story"


@dataclass(frozen=True)
class Recall:
    """For how many questions of a text the right passage is among the first AMONG ones, by way."""

    text: str
    part: int
    passages: int
    questions: int
    hits: dict[str, tuple[int, ...]]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> dict[str, list[Recall]]:
    """Return what was measured, by text. ValueError where the file is missing or damaged."""
    with Recorded(folder / FILE, COMMAND) as content:
        found = typed(content["texts"], list[Recall])
        texts = {name: [part for part in found if part.text == name] for name in (WORLD, STORY)}
        if [len(texts[WORLD]), len(texts[STORY])] != [len(PARTS), 1]:
            raise ValueError("texts are missing")
        return texts


def share(name: str, way: str, among: int) -> float:
    """Return recall among so many passages, over all parts of a text together."""
    at = AMONG.index(among)
    those = recorded()[name]
    return sum(part.hits[way][at] for part in those) / sum(part.questions for part in those)
