"""Writing stories by guess and check, against plain decoding, in one run.

    python -m benchmarks.speculative [--draft KIND] [--temperature T] [--tries N]

Prints for 1 to 8 guesses in a round: tokens per second, the speed-up over plain decoding (times of
the processor, the best of some tries in turns), how many guesses were accepted, and the speed-up
that the formula of Leviathan et al. 2023 expects, with reading k + 1 tokens as one step and as
long as it took. Two targets write the same text: the bundled model, whose weights stay in the
processor's cache, and the same made wider, whose weights have to come from memory. Guesses are
checked by weights that are packed for reading a few tokens; plain decoding takes these or the
model's own, whichever was faster.
"""

from __future__ import annotations

import argparse

from llmviz.course.lessons.efficiency.speculative.model import (
    KINDS,
    NETWORK,
    TRIES,
    WIDE,
    Speed,
    guess_speeds,
    pooled,
)
from llmviz.sampling.speculative import expected_speed_up

TARGET = "tiny-world-gpt"
WANTED = 1.5  # times plain decoding, at the best number of guesses of the wide target


def table(speeds: tuple[Speed, ...]) -> list[str]:
    """Lines of a table, one for each number of guesses."""
    a, cost = pooled(speeds)
    lines = [
        f"plain decoding {1 / speeds[0].step:,.0f} tokens/s; a = {a:.2f}, a guess costs "
        f"{cost:.2f} steps",
        "k  tokens/s  speed-up  accepted  tokens/round  read  formula  with read",
    ]
    for one in speeds:
        formula = expected_speed_up(a, one.guesses, cost)
        read = expected_speed_up(a, one.guesses, cost, one.read)
        lines.append(
            f"{one.guesses}  {one.tokens / one.seconds:8,.0f}  {one.speed_up:8.2f}  "
            f"{one.acceptance:8.2f}  {one.tokens / one.rounds:12.2f}  {one.read:4.2f}  "
            f"{formula:7.2f}  {read:9.2f}"
        )
    return lines


def main() -> None:
    """Measure both targets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draft", choices=KINDS, default=NETWORK)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--tries", type=int, default=TRIES)
    given = parser.parse_args()
    for wide in (1, WIDE):
        name = TARGET if wide == 1 else f"{TARGET}, feed-forward {wide} times as wide"
        print(f"\n{name}; draft: {given.draft}; temperature {given.temperature:g}")
        *_, speeds = guess_speeds(TARGET, given.draft, given.temperature, wide, tries=given.tries)
        print("\n".join(table(speeds)))
        best = max(one.speed_up for one in speeds)
        wanted = "" if wide == 1 else f" (wanted: {WANTED})"
        print(f"best: {best:.2f} times plain decoding{wanted}")


if __name__ == "__main__":
    main()
