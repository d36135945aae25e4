"""What rows of like length save: `windows=sorted` against `padded`, in turns within one run.

    python -m benchmarks.windows [--quick] [--threads N] [--rounds N]

Both train tiny-world-gpt's shape on the same documents; counted are tokens with a target, not the
padding. Ratios are medians of rounds. Run nothing beside it.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import time

import torch

from benchmarks.training import ours
from llmviz.corpus import load_corpus
from llmviz.pretrained import load_bundled
from llmviz.training import TrainData
from llmviz.training.device import has_fast_bfloat16
from llmviz.training.memory import keep_freed_memory
from llmviz.training.recipes import plan_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few steps: a smoke test, no figures")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--steps", type=int, default=16, help="steps in a round")
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    if given.quick:
        given.steps, given.rounds = 2, 1
    keep_freed_memory()
    model, tokenizer, _ = load_bundled("tiny-world-gpt")
    corpus = load_corpus("tiny-world", characters=1_000_000)
    context = model.config.context_length
    data = {
        windows: TrainData.from_corpus(corpus, tokenizer, context, windows=windows)
        for windows in ("padded", "sorted")
    }
    config = dataclasses.replace(
        plan_of("tiny-world-gpt").train,
        steps=given.steps * (given.rounds + 1),
        eval_every=0,
        checkpoint_every=0,
        log_every=1,
        threads=given.threads,
        device="cpu",
        dtype="bfloat16" if has_fast_bfloat16(torch.device("cpu")) else "float32",
    )
    shape = dataclasses.asdict(model.config)
    running = {windows: ours(shape, batches, config) for windows, batches in data.items()}
    rates: dict[str, list[float]] = {windows: [] for windows in running}
    for round_number in range(given.rounds + 1):
        for windows, steps in running.items():
            first = round_number * given.steps + 1
            tokens = sum(
                data[windows].count(data[windows].batch(step, config.batch_size))
                for step in range(first, first + given.steps)
            )
            begun = time.perf_counter()
            for _ in range(given.steps):
                next(steps)
            if round_number:  # the first round warms up
                rates[windows].append(tokens / (time.perf_counter() - begun))
    for windows, found in rates.items():
        ratios = [a / b for a, b in zip(found, rates["padded"], strict=True)]
        print(
            f"{windows:7}{statistics.median(found):9,.0f} tokens/s  "
            f"{statistics.median(ratios):.2f} × padded  "
            f"({config.dtype}, {given.threads} thread(s))"
        )


if __name__ == "__main__":
    main()
