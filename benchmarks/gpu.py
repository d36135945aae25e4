"""Training the 124M shape on a GPU in bfloat16, against transformers' GPT-2; needs CUDA.

    python -m benchmarks.gpu [--batch N] [--steps N] [--rounds N] [--quick]

Both train GPT-2's smallest shape (12 layers, 12 heads, width 768, context 1,024, vocabulary 50,257)
on the same batches with the same optimizer settings, under autocast, ours through
`llmviz.training.train`. Rounds alternate; medians are printed, with the share of the rate at which
this device multiplies large matrices. `--quick` is a smoke test of this file on a tiny shape, which
runs on a CPU, too, and gives no figures.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator

import torch

from benchmarks.training import flops_per_token, ours, transformers
from llmviz.models.catalogue import GPT_SIZES
from llmviz.training import Stream, TrainConfig, TrainData

TINY = {"vocab_size": 65, "context_length": 32, "n_layer": 2, "n_head": 2, "n_embd": 32}


def data(shape: dict, tokens: int = 2_000_000) -> TrainData:
    """Ids drawn at random: how fast a step is does not depend on what it reads."""
    ids = torch.randint(0, shape["vocab_size"], (tokens,)).tolist()
    streams = Stream.join([ids[tokens // 10 :]], 0), Stream.join([ids[: tokens // 10]], 0)
    return TrainData(*streams, shape["context_length"], shape["vocab_size"])


def matrix_rate(device: str, size: int) -> float:
    """FLOP/s of this device's bfloat16 product of two square matrices."""
    a, b = (torch.randn(size, size, dtype=torch.bfloat16, device=device) for _ in range(2))
    times = []
    for _ in range(6):
        begun = time.perf_counter()
        for _ in range(5):
            product = a @ b
        float(product[0, 0])  # waits for the device
        times.append((time.perf_counter() - begun) / 5)
    return 2 * size**3 / statistics.median(times[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tiny shape: a smoke test")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=10, help="steps in a round")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    if not given.quick and not torch.cuda.is_available():
        parser.exit(0, "skipped: this machine has no CUDA device\n")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = TINY if given.quick else dict(GPT_SIZES["gpt2"])
    if given.quick:
        given.steps, given.rounds, given.batch = 2, 1, 4
    compiles = device == "cuda"
    config = TrainConfig(
        steps=given.steps * (given.rounds + 1),
        batch_size=given.batch,
        learning_rate=6e-4,
        eval_every=0,
        eval_batches=1,
        checkpoint_every=0,
        log_every=1,
        dtype="bfloat16",
        device=device,
        compile="on" if compiles else "off",
    )
    batches = data(shape, 20_000 if given.quick else 2_000_000)
    contestants: dict[str, Callable[[], Iterator[None]]] = {
        "transformers": lambda: transformers(shape, batches, config),
        "ours": lambda: ours(shape, batches, config),
    }
    if compiles:
        contestants["transformers compiled"] = lambda: transformers(shape, batches, config, True)
    running = {name: make() for name, make in contestants.items()}
    rates: dict[str, list[float]] = {name: [] for name in running}
    tokens = given.steps * given.batch * shape["context_length"]
    for round_number in range(given.rounds + 1):
        for name, steps in running.items():
            begun = time.perf_counter()
            for _ in range(given.steps):
                next(steps)
            if round_number:  # the first round compiles and warms up
                rates[name].append(tokens / (time.perf_counter() - begun))
    peak = matrix_rate(device, 256 if given.quick else 8192)
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"{where}, bfloat16, batch {given.batch}; large matrices {peak / 1e12:.1f} TFLOP/s")
    for name, found in rates.items():
        pairs = zip(found, rates["transformers"], strict=True)
        ratio, rate = statistics.median(a / b for a, b in pairs), statistics.median(found)
        share = rate * flops_per_token(shape) / peak
        print(
            f"{name:21}  {rate:10,.0f} tokens/s  {ratio:5.2f} × transformers  {share:.0%} of that"
        )


if __name__ == "__main__":
    main()
