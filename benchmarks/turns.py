"""Forward passes of several visitors at once: in turns, as the pages do them, and without turns.

    python -m benchmarks.turns [--visitors 8] [--tokens 200] [--rounds 30]

Every visitor is a thread and asks tiny-world-gpt for one pass, all at the same moment; torch works
on one thread in each. The two ways alternate within one run. Printed in milliseconds: what the
first, the middle and the last visitor waited, and the processor time of all of them.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time

import torch
from torch import nn

from llmviz.course.ui.engine import take_turns
from llmviz.pretrained import load_bundled

MODEL = "tiny-world-gpt"


def passes(model: nn.Module, ids: torch.Tensor, visitors: int) -> tuple[list[float], float]:
    """Let so many threads begin a pass at once; return what each waited, sorted, and all CPU.

    ids: (1, T). Seconds.
    """
    moments: list[float] = []  # when all were there, and when each had its pass
    ready = threading.Barrier(visitors, lambda: moments.append(time.perf_counter()))

    def one() -> None:
        with torch.inference_mode():
            ready.wait()
            model(ids)
            moments.append(time.perf_counter())

    begun = time.process_time()
    threads = [threading.Thread(target=one) for _ in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.process_time() - begun
    return sorted(moment - moments[0] for moment in moments[1:]), taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visitors", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    torch.set_num_threads(1)  # as the server has it
    ways = {"in turns": take_turns(load_bundled(MODEL)[0]), "without": load_bundled(MODEL)[0]}
    ids = torch.arange(given.tokens)[None]
    taken: dict[str, list[tuple[list[float], float]]] = {name: [] for name in ways}
    for round_ in range(given.rounds + 1):
        for name, model in ways.items():
            result = passes(model, ids, given.visitors)
            if round_:  # the first one warms up
                taken[name].append(result)
    print(f"{given.visitors} visitors, one pass of {given.tokens} tokens each; ms, medians")
    print(f"{'':<12}{'first':>9}{'middle':>9}{'last':>9}{'processor':>12}")
    middles = {}
    for name, results in taken.items():
        rows = [[one[0], statistics.median(one), one[-1], cpu] for one, cpu in results]
        first, middles[name], last, cpu = map(statistics.median, zip(*rows, strict=True))
        cells = "".join(f"{1e3 * each:9.1f}" for each in (first, middles[name], last))
        print(f"{name:<12}{cells}{1e3 * cpu:12.1f}")
    print(f"the middle one in turns: {middles['in turns'] / middles['without']:.2f} of without")


if __name__ == "__main__":
    main()
