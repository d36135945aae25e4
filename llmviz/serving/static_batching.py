"""Batches that run as a whole: nobody joins and nobody leaves before all have ended. No torch."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from llmviz.serving.plan import Plan
from llmviz.serving.sequences import Sequence
from llmviz.serving.settings import ServingConfig


def ready_at(config: ServingConfig, waiting: int, waited_since: float | None) -> float:
    """From when on (seconds) a batch of waiting requests begins, under the policy "dynamic"."""
    if config.policy != "dynamic" or waiting >= config.max_batch or waited_since is None:
        return float("-inf")
    return waited_since + config.window


def go_on(running: Iterable[Sequence], plan: Plan) -> None:
    """Plan the next token of a batch; rows of what has ended or was dropped are padding."""
    for sequence in running:
        if sequence.reason is None and not sequence.idle:
            plan.decode.append(sequence)
        else:
            plan.padding.append(sequence)


def next_batch(config: ServingConfig, waiting: Iterable[Sequence]) -> tuple[int, int]:
    """How many waiting requests form the next batch, and how many blocks each of them gets.

    Every row gets memory for the longest prompt and the most new tokens of the batch. The first
    one fits alone. The hypotheses of a beam search are in one batch.
    """
    longest = most_new = 0
    batch = 0, 0
    for count, sequence in enumerate(islice(waiting, config.max_batch), 1):
        longest = max(longest, sequence.prompt_length)
        most_new = max(most_new, sequence.request.max_new_tokens)
        each = config.blocks_for(longest + most_new - 1)
        if batch[0] and count * each > config.n_blocks:
            break
        if sequence is sequence.unit[-1]:
            batch = count, each
    return batch


def begin(batch: list[Sequence], plan: Plan) -> None:
    """Plan the prompts of a new batch, padded to the longest of them."""
    longest = max((sequence.prompt_length for sequence in batch), default=0)
    for sequence in batch:
        plan.admitted.append(sequence.name)
        plan.prefill.append((sequence, 0, sequence.prompt_length))
        plan.padding_tokens += longest - sequence.prompt_length
