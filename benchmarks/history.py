"""What the lesson "From counts to GPT" computes under the hand, beside the limits.

    python -m benchmarks.history [--rounds N]

On one thread, medians: the scores of a typed name by all nine models (at most 0.15 s), 200 steps of
the pair network (at most 5 s), names counted to six letters with three ways of smoothing (at most
2 s). Run nothing beside it.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch

from llmviz.course.lessons.history.counting.model import longer_contexts, table_descent
from llmviz.evaluation.nine_models import (
    COUNTED,
    TRAINED,
    chances_by_counts,
    chances_by_model,
    count_names,
)
from llmviz.pretrained import load_bundled

NAME = "maximiliana"
STEPS, LONGEST = 200, 6


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median of the seconds of work, after one round that is not counted."""
    work()
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    counts = [count_names(key) for key in COUNTED]
    models = [load_bundled(name)[:2] for name in TRAINED]

    def nine() -> None:
        for one in counts:
            chances_by_counts(one, NAME)
        for model, tokenizer in models:
            chances_by_model(model, tokenizer, NAME)

    tasks = {
        f"the scores of {NAME} by {len(counts) + len(models)} models": (nine, 0.15),
        f"{STEPS} steps of the pair network": (lambda: table_descent(STEPS), 5.0),
        f"counts to n = {LONGEST}, smoothed": (lambda: longer_contexts(LONGEST), 2.0),
    }
    for name, (work, limit) in tasks.items():
        taken = seconds(work, rounds)
        print(
            f"{name:48} {1000 * taken:8.1f} ms   limit {1000 * limit:6.0f} ms   {taken / limit:.2f}"
        )


if __name__ == "__main__":
    main()
