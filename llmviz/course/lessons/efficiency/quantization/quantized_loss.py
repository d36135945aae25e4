"""The loss of a model on a grid, beside the model's own, measured while somebody watches.

A generator for a process of its own: see `llmviz.background`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from llmviz.quantization.quantized_models import quantized
from llmviz.quantization.scheme import Scheme

DOCUMENTS, AT_ONCE = 60, 4  # texts in all, and between two looks


@dataclass(frozen=True)
class LossSoFar:
    """Mean losses on the texts so far, nats per token, and the bytes of the quantized model.

    floor: the lowest loss that can be expected, None where it is not known. matrices: those of
    `total` bytes that the quantized matrices take.
    """

    documents: int
    tokens: int
    exact: float
    rounded: float
    floor: float | None
    total: int
    matrices: int


def quantized_loss(
    name: str, scheme: dict[str, Any], method: str, documents: int = DOCUMENTS
) -> Iterator[LossSoFar]:
    """Measure a bundled model with and without a scheme, given as `Scheme.to_dict` has it.

    Raises ValueError for a scheme or a method that does not fit, or a model that is not there.
    """
    from llmviz.pretrained import load_bundled
    from llmviz.training.evaluate import evaluate_documents
    from llmviz.training.held_out_texts import held_out

    model, tokenizer, card = load_bundled(name)
    small = quantized(model, tokenizer, Scheme.from_dict(scheme), method)
    kept = held_out({"data": {"corpus": card["corpus"]}}, documents)
    sums = [0.0, 0.0]
    tokens = 0
    for first in range(0, len(kept.texts), AT_ONCE):
        some = kept.texts[first : first + AT_ONCE]
        scores = [evaluate_documents(version, tokenizer, some) for version in (model, small.model)]
        sums = [total + score.nats for total, score in zip(sums, scores, strict=True)]
        tokens += scores[0].tokens
        done = first + len(some)
        yield LossSoFar(
            done,
            tokens,
            sums[0] / tokens,
            sums[1] / tokens,
            kept.floor(done, tokens),
            small.sizes.total,
            small.sizes.matrices,
        )
