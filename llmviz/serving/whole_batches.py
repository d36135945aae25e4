"""Batches that run as a whole: nobody joins and nobody leaves before all have ended. No torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.serving.plan import Plan
from llmviz.serving.settings import ServingConfig

if TYPE_CHECKING:
    from llmviz.serving.scheduler import Scheduler


def ready_at(config: ServingConfig, waiting: int, waited_since: float | None) -> float:
    """From when on (seconds) a batch of those who wait begins, under the policy "dynamic"."""
    if config.policy != "dynamic" or waiting >= config.max_batch or waited_since is None:
        return float("-inf")
    return waited_since + config.window


def plan_whole_batch(scheduler: Scheduler, plan: Plan) -> None:
    """Go on with the batch, or form the next one of those who wait.

    Every row gets memory for the longest prompt and the most new tokens of the batch.
    """
    running = scheduler.running
    if all(sequence.reason is not None for sequence in running):
        for sequence in tuple(running):
            running.remove(sequence)
            scheduler.release(sequence)
        _form(scheduler, plan)
        return
    for sequence in running:
        if sequence.reason is None:
            sequence.room = len(sequence.tokens)
            plan.decode.append(sequence)
        else:
            plan.padding.append(sequence)


def _form(scheduler: Scheduler, plan: Plan) -> None:
    config, waiting = scheduler.config, scheduler.waiting
    count = longest = most_new = 0
    for sequence in list(waiting)[: config.max_batch]:
        prompt = max(longest, sequence.prompt_length)
        new = max(most_new, sequence.request.max_new_tokens)
        each = config.blocks_for(prompt + new - 1)
        if count and (count + 1) * each > config.n_blocks:
            break
        count, longest, most_new = count + 1, prompt, new
    each = min(config.blocks_for(longest + most_new - 1), config.n_blocks)
    for _ in range(count):
        sequence = waiting.popleft()
        sequence.table = [scheduler.blocks.allocate() for _ in range(each)]
        sequence.room = sequence.prompt_length
        scheduler.place(sequence)
        plan.admitted.append(sequence.name)
        plan.prefill.append((sequence, 0, sequence.prompt_length))
        plan.padding_tokens += longest - sequence.prompt_length
