"""The bundled record of runs of each method on two and on four processes. No torch to read it.

Makes what `llmviz.parallel.outcome` reads.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from llmviz.files.whole import write_whole
from llmviz.parallel.outcome import COMMAND, FILE, Outcome
from llmviz.parallel.plan import METHODS, PIPELINES, ParallelPlan

PROCESSES = (2, 4)


MICRO_BATCHES = (1, 2, 4, 8)


def plans() -> list[ParallelPlan]:
    """All runs that are recorded: each method on each number of processes.

    A pipeline is recorded for each number of micro-batches that it can have.
    """
    runs = []
    for processes in PROCESSES:
        for method in METHODS:
            micro = MICRO_BATCHES if method in PIPELINES else (4,)
            runs += [
                ParallelPlan(method, processes, micro_batches=count)
                for count in micro
                if method != "1f1b" or count >= processes
            ]
    return runs


def save(outcomes: Iterable[Outcome], file: Path) -> None:
    """Write outcomes, a line each. Raises OSError where that cannot be done."""
    lines = [json.dumps(outcome.as_json(), separators=(",", ":")) for outcome in outcomes]
    text = '{"command":"' + COMMAND + '","runs":[\n' + ",\n".join(lines) + "\n]}\n"
    write_whole(file, lambda path: path.write_text(text, encoding="utf-8"))


def make(file: Path) -> None:
    """Run all plans and write the record."""
    from llmviz.parallel.launch import run_all

    outcomes = []
    for processes in PROCESSES:
        own = [plan for plan in plans() if plan.processes == processes]
        for report in run_all(own):
            if isinstance(report, Outcome):
                sys.stdout.write(f"{report.plan.method} on {processes}\n")
                outcomes.append(report)
    save(outcomes, file)


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description="Record all parallel runs again.")
    parser.add_argument("--to", type=Path, default=FILE, help="the file that is written")
    make(parser.parse_args().to)


if __name__ == "__main__":
    main()
