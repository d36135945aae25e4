"""Links that nobody would write, over all chapters: what each costs, and whether any raises.

    python -m benchmarks.random_links [--links 5000] [--first 0] [--rows 15]

They are those of `tests/pages/random_links.py`: a chapter, up to eight of its lesson's controls,
values right and wrong, packed texts at and above the limits of their fields. Goals: no exception,
nothing of a link that comes alive, no opening over 3 s. A machine that others use too makes the
seconds of the wall longer, so those of the processor stand beside them.
"""

from __future__ import annotations

import argparse
import gc
import logging
import time
from dataclasses import dataclass

from benchmarks.limits import open_as_served
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.server import load_ahead

MOST = 3.0  # seconds


@dataclass
class Answer:
    """What a link cost, and what went wrong."""

    seed: int
    place: str
    link: str
    cpu: float
    wall: float
    trouble: str


def answers(first: int, number: int, rows: int) -> list[Answer]:
    """Open the links; print each that goes wrong as it comes."""
    open_part = open_as_served()
    from tests.pages.random_links import alive, random_link

    random_link(0)
    gc.collect()
    gc.freeze()  # as app.py does
    found = []
    for seed in range(first, first + number):
        page, part, link = random_link(seed)
        cpu, wall = time.process_time(), time.perf_counter()
        app = open_part(page, part, **link)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        troubles = [*(str(one.value) for one in app.exception), *alive(app)]
        told = ", ".join(f"{key}={value[:24]}" for key, value in link.items())
        found.append(Answer(seed, f"{page}/{part}", told, cpu, wall, " ".join(troubles)))
        if troubles or cpu > MOST:
            print(line(found[-1]), flush=True)
        if len(found) % 500 == 0:
            print(summary(found), flush=True)
    print()
    for one in sorted(found, key=lambda one: -one.cpu)[:rows]:
        print(line(one))
    return found


def line(one: Answer) -> str:
    """One line of the table."""
    return (
        f"{one.seed:6} {one.place:26} cpu {one.cpu:5.2f} s, wall {one.wall:5.2f} s  "
        f"{one.link[:150]} {one.trouble[:200]}"
    )


def summary(found: list[Answer]) -> str:
    """The counts."""
    return (
        f"{len(found):,} links to {len({one.place for one in found})} chapters: "
        f"{sum(bool(one.trouble) for one in found)} went wrong; over {MOST:g} s: "
        f"{sum(one.cpu > MOST for one in found)} of the processor, "
        f"{sum(one.wall > MOST for one in found)} of the wall; "
        f"the longest {max(one.cpu for one in found):.2f} and "
        f"{max(one.wall for one in found):.2f} s"
    )


def main() -> None:
    """Open the links and print those that cost most."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the first link's number")
    parser.add_argument("--rows", type=int, default=15, help="rows of the table")
    args = parser.parse_args()
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    load_ahead(LESSONS).join()
    print(summary(answers(args.first, args.links, args.rows)))


if __name__ == "__main__":
    main()
