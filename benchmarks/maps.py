"""Maps of 2,000 word vectors: seconds until each stands there, and until it is judged.

    python -m benchmarks.maps [--points N] [--dimensions 2] [--threads N] [--rounds N]

Wall seconds, and seconds of processor time, which other work on the machine does not lengthen.
The first round of a method includes what it imports and compiles; the others do not. The aim is a
map within 5 s, and PCA at once.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall seconds and processor seconds of a call."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    work()
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, busy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--dimensions", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    from llmviz.pretrained import load_bundled
    from llmviz.similarity import METHODS, neighbour_ids, project
    from llmviz.similarity.trust import neighbour_ranks, trust_of_points

    rows = load_bundled("tiny-world-word2vec")[0].vectors()[: given.points]
    print(f"{len(rows):,} vectors of {rows.shape[1]} numbers, {given.threads} thread(s)")
    for method in METHODS:
        for number in range(given.rounds):
            wall, busy = timed(lambda m=method: project(rows, m, given.dimensions))
            what = "first" if number == 0 else "again"
            print(f"{method:5} {what}: {wall:6.2f} s, {busy:6.2f} s of processor time (aim 5 s)")
    wall, _ = timed(lambda: neighbour_ranks(rows))
    print(f"true neighbours of all points, once: {1000 * wall:.0f} ms")
    ranks, points = neighbour_ranks(rows), project(rows, "pca", given.dimensions)
    wall, _ = timed(lambda: trust_of_points(ranks, neighbour_ids(points, 10)))
    print(f"how true a map is: {1000 * wall:.0f} ms")


if __name__ == "__main__":
    main()
