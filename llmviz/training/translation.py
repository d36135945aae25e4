"""How good a translator is: exact translations, and where its cross-attention looks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from llmviz.models.seq2seq import Seq2Seq
from llmviz.models.translator import Translator
from llmviz.trace import record

ROWS = 64  # sentences translated at once


@dataclass(frozen=True)
class TranslationScore:
    """Shares of held-out sentences and of their words."""

    sentences: int
    exact: float  # of the sentences: translated word for word
    words: int  # target words whose source word is known
    aligned: float | None  # of these: cross-attention is highest at their source word; none has it
    by_length: dict[int, tuple[int, int]]  # words of a source: sentences, and those exact

    def to_dict(self) -> dict[str, Any]:
        """For JSON, in which the lengths are texts."""
        lengths = {str(words): list(counts) for words, counts in sorted(self.by_length.items())}
        return dataclasses.asdict(self) | {"by_length": lengths}


def evaluate_pairs(
    model: Translator, tokenizer: Any, pairs: Sequence[tuple[str, str]]
) -> TranslationScore:
    """Translate each source greedily, and look where each right word would come from.

    The alignment is that of the last decoder layer, heads averaged, while the right translation
    is read; pairs that tiny-world's rules did not make have none. Raises ValueError for no pairs.
    """
    if not pairs:
        raise ValueError("evaluation needs at least one pair of sentences; got none")
    right = words = matched = 0
    by_length: dict[int, tuple[int, int]] = {}
    was_training = model.training
    model.eval()
    for first in range(0, len(pairs), ROWS):
        part = pairs[first : first + ROWS]
        sources = [tokenizer.encode(source) for source, _ in part]
        targets = [tokenizer.encode(target) for _, target in part]
        batch = _rows(sources, model.config.pad_id)
        exact = [a == b for a, b in zip(model.translate(batch), targets, strict=True)]
        right += sum(exact)
        for ids, same in zip(sources, exact, strict=True):
            count, correct = by_length.get(len(ids), (0, 0))
            by_length[len(ids)] = count + 1, correct + same
        alignments = [_alignment(source, target) for source, target in part]
        words += sum(map(len, alignments))
        if isinstance(model, Seq2Seq):
            looked = cross_attention(model, batch, targets).argmax(dim=-1)  # (B, T)
            matched += sum(
                int(looked[row, j]) == i for row, known in enumerate(alignments) for i, j in known
            )
    model.train(was_training)
    aligned = (matched / words if words else 0.0) if isinstance(model, Seq2Seq) else None
    return TranslationScore(len(pairs), right / len(pairs), words, aligned, by_length)


@torch.no_grad()
def cross_attention(model: Seq2Seq, source: Tensor, targets: Sequence[list[int]]) -> Tensor:
    """Weights (B, T, S) of the last decoder layer, heads averaged, while `targets` are read.

    Row t belongs to the prediction of target token t.
    """
    config = model.config
    read = _rows([[config.start_id, *ids] for ids in targets], config.pad_id)
    name = f"decoder.blocks.{config.n_layer - 1}.cross.weights"
    with record(name) as trace:
        model(source, read)
    return trace[name].mean(dim=1)


def _alignment(source: str, target: str) -> tuple[tuple[int, int], ...]:
    """(source word, target word) where the rules of the second language tell it."""
    from llmviz.corpus.language import translate

    try:
        known = translate(source)
    except (KeyError, ValueError):  # not a sentence of these rules
        return ()
    return known.alignment if known.target == target else ()


def _rows(ids: Sequence[list[int]], filler: int) -> Tensor:
    rows = torch.full((len(ids), max(map(len, ids))), filler)
    for row, values in enumerate(ids):
        rows[row, : len(values)] = torch.tensor(values)
    return rows
