"""How a trained model is trained further on a grid of few bits."""

from __future__ import annotations

from llmviz.training.config import ON_ONE_CORE, TrainConfig

RATE = 1e-3  # the highest learning rate, where none is chosen
BATCH = 32  # texts an update


def grid_training(
    steps: int, rate: float, seed: int = 0, *, log_every: int = 1, threads: int = 1
) -> TrainConfig:
    """Return how a trained model is trained further on a grid: `steps` updates on the CPU.

    rate: the highest learning rate. Raises ValueError for a value that cannot be.
    """
    return TrainConfig(
        steps=steps,
        batch_size=BATCH,
        learning_rate=rate,
        min_lr=rate / 100,
        warmup_steps=max(1, steps // 10),
        weight_decay=0.0,
        log_every=log_every,
        eval_every=0,
        eval_batches=1,
        checkpoint_every=0,
        seed=seed,
        **{**ON_ONE_CORE, "threads": threads},
    )
