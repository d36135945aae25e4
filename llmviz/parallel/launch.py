"""Start the processes of a run on this machine, hear from them, and end them. No torch here.

    for one in run(ParallelPlan("zero2", processes=4)):
        ...  # Progress after each step, and at last the Outcome

The processes begin as copies of one that has torch already, where the system can do that. They end
with the run, with its caller, and with each other.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from llmviz.parallel.outcome import Outcome, Progress
from llmviz.parallel.plan import ParallelPlan

PATIENCE = 20.0  # seconds that a process has for ending by itself


class ProcessEnded(ValueError):
    """A process of a run ended before its work did; the others were ended, too."""


def run(plan: ParallelPlan) -> Iterator[Progress | Outcome]:
    """Run a plan on as many processes of this machine; yield each step, then the outcome.

    Closing the generator ends the processes. Raises ProcessEnded, one line, where one of them ends
    by itself, and ValueError for what a plan asks and cannot have.
    """
    yield from run_all([plan])


def run_all(plans: Sequence[ParallelPlan]) -> Iterator[Progress | Outcome]:
    """Run several plans for one number of processes, one after the other, in the same processes.

    Raises ValueError for plans of different numbers, besides what `run` raises.
    """
    sizes = {plan.processes for plan in plans}
    if len(sizes) != 1:
        raise ValueError(f"plans must be for one number of processes; got {sorted(sizes)}")
    with tempfile.TemporaryDirectory(prefix="llmviz-parallel-") as folder:
        group = _Group()
        try:
            group.begin(list(plans), Path(folder) / "meeting")
            yield from group.heard()
        finally:
            group.end()


class _Group:
    """The processes of a run, and a pipe to each."""

    def __init__(self) -> None:
        self.processes: list[Any] = []
        self.pipes: list[Connection] = []

    def begin(self, plans: list[ParallelPlan], meeting: Path) -> None:
        """Start the processes, which meet in a file."""
        forks = "forkserver" in multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("forkserver" if forks else "spawn")
        if forks:
            context.set_forkserver_preload(["llmviz.parallel.child_process"])
        for rank in range(plans[0].processes):
            here, there = context.Pipe()
            process = context.Process(
                target=_begin, args=(plans, rank, str(meeting), there), daemon=True
            )
            process.start()
            there.close()
            self.processes.append(process)
            self.pipes.append(here)

    def heard(self) -> Iterator[Progress | Outcome]:
        """Yield what the processes say until all have done their work."""
        size = len(self.processes)
        going = set(range(size))
        while going:
            ready = wait([self.pipes[rank] for rank in going])
            for rank in [rank for rank in sorted(going) if self.pipes[rank] in ready]:
                try:
                    kind, value = self.pipes[rank].recv()
                except (EOFError, OSError):
                    raise ProcessEnded(self._ended(rank)) from None
                if kind == "done":
                    going.discard(rank)
                elif kind == "refused":
                    raise ValueError(value)
                elif kind == "failed":
                    raise RuntimeError(f"process {rank + 1} of {size} failed:\n{value}")
                else:
                    yield value

    def _ended(self, rank: int) -> str:
        process = self.processes[rank]
        process.join(PATIENCE)
        code = process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
        return (
            f"process {rank + 1} of {len(self.processes)} ended {how} before its work was done; "
            "the others were ended, too"
        )

    def end(self) -> None:
        """End all that still go on, and wait until they have."""
        for process in self.processes:
            if process.is_alive():
                process.kill()
        for process in self.processes:
            process.join()
            process.close()
        for pipe in self.pipes:
            pipe.close()


def _begin(*arguments: Any) -> None:
    """In the new process: what needs torch is imported there alone."""
    from llmviz.parallel.child_process import work

    work(*arguments)
