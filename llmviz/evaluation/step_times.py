"""How long a step of training takes, model by model, measured in turns.

B texts of a batch, T tokens of each, as in the recipes of the models.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

CORPUS = "tiny-world-sample"
ROUNDS = 10


class StepTimes(NamedTuple):
    """The shortest step of each model so far, in milliseconds of the processor."""

    rounds: int  # in each of which every model made one step
    milliseconds: dict[str, float]  # by the name of the checkpoint


def step_times(names: Sequence[str], rounds: int = ROUNDS) -> Iterator[StepTimes]:
    """Train some bundled models for a few steps in turns, and yield their times after each round.

    names: checkpoints. A step is a forward pass, a backward pass and an update by the optimizer of
    the model's recipe, on one thread and on the recipe's batch. The first step of each model sets
    things up and is not counted. What else the machine does for a moment disturbs one round, and
    the shortest step counts; it is the processor's time for this work alone.
    Raises ValueError for no name, and for a checkpoint that is not there.
    """
    import torch

    if not names:
        raise ValueError("at least one model is needed")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        steps = {name: _step(name) for name in names}
        for step in steps.values():
            step()
        best: dict[str, float] = {}
        for done in range(1, rounds + 1):
            for name, step in steps.items():
                began = time.thread_time()
                step()
                taken = 1000 * (time.thread_time() - began)
                best[name] = min(taken, best.get(name, taken))
            yield StepTimes(done, dict(best))
    finally:
        torch.set_num_threads(threads)


def _step(name: str) -> Callable[[], None]:
    """What makes one step of training on a model."""
    from llmviz.pretrained import load_bundled
    from llmviz.training.config import Plan
    from llmviz.training.preparation import make_optimizer
    from llmviz.training.recipes import plan_of

    model, tokenizer, _ = load_bundled(name)
    plan = plan_of(name)
    assert isinstance(plan, Plan)
    model.train().requires_grad_(True)
    optimizer = make_optimizer(model, plan.train)
    ids = batch(tokenizer, plan.train.batch_size, plan.context_length)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        _, loss = model(ids[:, :-1], ids[:, 1:])
        loss.backward()
        optimizer.step()

    return step


def batch(tokenizer, rows: int, tokens: int) -> Tensor:
    """Return the first tokens of the bundled stories in rows, (B, T + 1)."""
    import torch

    from llmviz.corpus import load_corpus

    wanted, ids = rows * (tokens + 1), []
    for story in load_corpus(CORPUS):
        ids += tokenizer.encode_from_start(story)
        if len(ids) >= wanted:
            break
    return torch.tensor((ids * (wanted // len(ids) + 1))[:wanted]).view(rows, tokens + 1)
