"""The numbers of DPO's loss for a few pairs, from log-probabilities of whole endings.

P pairs; the first column is the better ending, the second the worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from llmviz.finetuning.preferences import Pair
    from llmviz.models.base import LanguageModel


class PairLogs(NamedTuple):
    """What a model thinks of pairs: ln P of each ending (P, 2), in nats, and its tokens (P, 2)."""

    log_p: np.ndarray
    tokens: np.ndarray


def pair_logs(model: LanguageModel, tokenizer: Any, pairs: Sequence[Pair]) -> PairLogs:
    """Return ln P of the endings of pairs, each behind its story, its end of text counted.

    Raises ValueError for a story with an ending that is longer than the context.
    """
    import torch

    from llmviz.finetuning.dpo import pair_tokens, text_log_probs
    from llmviz.finetuning.masked import masked_batch
    from llmviz.training.data import end_id

    rows = [text for pair in pairs for text in pair_tokens(tokenizer, pair)]
    longest = max(map(len, rows)) - 1
    if longest > model.context_length:
        raise ValueError(
            f"a story with its ending has {longest} tokens; the model reads "
            f"{model.context_length} at most"
        )
    inputs, targets = masked_batch(rows, end_id(tokenizer))
    with torch.inference_mode():
        logits = model(inputs)[0]
    log_p = text_log_probs(logits, targets).double().view(-1, 2).numpy()
    counts = [sum(token.counts for token in row) for row in rows]
    return PairLogs(log_p, np.array(counts).reshape(-1, 2))


class LossNumbers(NamedTuple):
    """The loss of P pairs step by step, each (P, 1); in nats, but for the probability."""

    better: np.ndarray  # ln π − ln π₀ of the better ending
    worse: np.ndarray
    difference: np.ndarray
    margin: np.ndarray  # β times that
    probability: np.ndarray  # σ(margin)
    nats: np.ndarray  # minus its logarithm


def loss_numbers(now: np.ndarray, before: np.ndarray, beta: float) -> LossNumbers:
    """Return the steps of `llmviz.finetuning.dpo.dpo_steps` as columns; now, before (P, 2)."""
    import torch

    from llmviz.finetuning.dpo import dpo_steps

    better, worse = torch.from_numpy(now.T.copy())
    own_better, own_worse = torch.from_numpy(before.T.copy())
    steps = dpo_steps(better, worse, own_better, own_worse, beta)
    difference = steps.gain_better - steps.gain_worse
    ways = steps.gain_better, steps.gain_worse, difference, steps.margin
    columns = *ways, steps.probability, steps.nats
    return LossNumbers(*(column.numpy()[:, None] for column in columns))
