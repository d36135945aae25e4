"""The film of a BPE training."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llmviz.course.components._shared.transport import mount, place_of
from llmviz.course.components.token_strip.view import visible_text

NAME = 60  # characters of a token's name: in a text that repeats itself one token may be all of it


@dataclass(frozen=True)
class FilmStep:
    """One merge of training, as it stood when it was chosen.

    ``top`` holds (left, right, count) of the most frequent pairs before the merge, the chosen
    one among them; ``ties`` is how many pairs had the highest count; ``corpus_length`` is
    the number of tokens in the corpus after it.
    """

    pair: tuple[bytes, bytes]
    token: bytes
    count: int
    ties: int = 1
    top: Sequence[tuple[bytes, bytes, int]] = ()
    corpus_length: int = 0


@dataclass(frozen=True)
class MergeTable:
    """All merges of a training as they are sent; made by ``merge_table``.

    ``names`` are all tokens as texts; ``merges`` (steps, 6) and ``top`` (steps, pairs, 3) hold
    their numbers in it, with counts.
    """

    names: Sequence[str]
    merges: np.ndarray
    top: np.ndarray


@dataclass(frozen=True)
class FilmNode:
    """A token of the sample text that exists after ``k`` merges when ``born <= k < died``."""

    byte_start: int
    byte_end: int
    born: int
    died: int | None = None
    id: int = -1


def bpe_film(
    steps: Sequence[FilmStep] | MergeTable,
    nodes: Sequence[FilmNode],
    *,
    sample: str,
    key: str,
    corpus_length: int,
    base_vocab: int = 256,
    tie_rule: str = "",
    step: int | None = None,
    of: int | None = None,
    on_change: Callable[[], None] | None = None,
) -> int:
    """Draw the training of a byte-pair encoding as a film; return the step let go at.

    Step 0 stands before any merge, step ``k`` after the k-th. ``corpus_length`` counts tokens
    before any merge. ``of``: how many merges there are in all, where the steps are the first ones.
    ``tie_rule`` is the sentence shown where pairs tied. For a training that is drawn again and
    again, give its ``merge_table`` as steps. Raises ValueError for nodes that leave the sample.
    """
    table = steps if isinstance(steps, MergeTable) else merge_table(steps)
    payload = film_payload(table, nodes, sample, corpus_length, base_vocab, tie_rule)
    last = len(table.merges)
    payload["of"] = last if of is None else of
    start = last if step is None else max(0, min(step, last))
    reported = mount("bpe_film", payload, key=key, state="step", start=start, on_change=on_change)
    return place_of(reported, last + 1, start)


def merge_table(steps: Sequence[FilmStep]) -> MergeTable:
    """Return the merges of a training as tables of integers, each text once."""
    names: dict[bytes, int] = {}

    def number(data: bytes) -> int:
        return names.setdefault(bytes(data), len(names))

    widest = max((len(step.top) for step in steps), default=0)
    top = np.full((len(steps), widest, 3), -1, dtype=np.int32)
    merges = np.zeros((len(steps), 6), dtype=np.int32)
    for at, step in enumerate(steps):
        left, right = step.pair
        merges[at] = (
            number(left),
            number(right),
            number(step.token),
            step.count,
            step.ties,
            step.corpus_length,
        )
        for place, (a, b, count) in enumerate(step.top):
            top[at, place] = number(a), number(b), count
    return MergeTable([_name(data) for data in names], merges, top)


def _name(token: bytes) -> str:
    """A token as it is named; of a longer one than anybody reads, the beginning."""
    text = visible_text(token)[0]
    return text if len(text) <= NAME else f"{text[:NAME]}…"


def film_payload(
    table: MergeTable,
    nodes: Sequence[FilmNode],
    sample: str,
    corpus_length: int,
    base_vocab: int,
    tie_rule: str,
) -> dict[str, Any]:
    """Return what a film is sent: the merges, and the sample's tokens of all times."""
    raw = sample.encode("utf-8", "surrogatepass")
    for node in nodes:
        if not 0 <= node.byte_start < node.byte_end <= len(raw):
            raise ValueError(
                f"a token of the sample spans bytes {node.byte_start} to {node.byte_end}; "
                f"the sample has {len(raw)}"
            )
    alive = len(table.merges) + 1
    spans = np.array(
        [
            (
                n.byte_start,
                n.byte_end,
                n.born,
                alive if n.died is None else min(n.died, alive),
                n.id,
            )
            for n in sorted(nodes, key=lambda n: (n.byte_start, n.born))
        ],
        dtype=np.int32,
    ).reshape(-1, 5)
    texts = [visible_text(raw[start:end]) for start, end in spans[:, :2]]
    return {
        "names": list(table.names),
        "merges": table.merges,
        "top": table.top,
        "spans": spans,
        "texts": [text for text, _ in texts],
        "whole": np.array([is_whole for _, is_whole in texts], dtype=np.uint8),
        "corpusLength": corpus_length,
        "baseVocab": base_vocab,
        "tieRule": tie_rule,
    }
