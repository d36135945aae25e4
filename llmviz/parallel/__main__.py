"""`python -m llmviz.parallel METHOD --processes N`: a training shared by N processes.

Under `torchrun` it joins the processes that were started, on one machine or on many.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from llmviz.files.standard_streams import take_any_character
from llmviz.parallel.launch import run
from llmviz.parallel.outcome import KINDS, Outcome, Progress
from llmviz.parallel.plan import METHODS, ParallelPlan

WRONG, INTERRUPTED = 2, 130


class _Parser(argparse.ArgumentParser):
    """argparse with one line for a mistake."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    """The command line: a method, and the settings of its plan."""
    default = ParallelPlan()
    command = _Parser(
        prog="python -m llmviz.parallel",
        description="Train a small model on several processes, and hold it against one.",
        epilog="Methods: " + "; ".join(f"{name}: {text}" for name, text in METHODS.items()),
    )
    command.add_argument("method", metavar="METHOD", help=", ".join(METHODS))
    command.add_argument(
        "--processes", type=int, default=None, help="2; under torchrun, as started"
    )
    for name in ("steps", "batch", "micro_batches", "context_length", "n_layer", "n_head"):
        command.add_argument(
            f"--{name.replace('_', '-')}", type=int, default=getattr(default, name)
        )
    for name in ("n_embd", "n_expert", "seed"):
        command.add_argument(
            f"--{name.replace('_', '-')}", type=int, default=getattr(default, name)
        )
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and print; return 0, 2 after one line for what cannot be done, 130 for Ctrl-C."""
    take_any_character()
    given = vars(parser().parse_args(arguments))
    try:
        return _started(given) if _launched() else _alone(given)
    except ValueError as rule:
        sys.stderr.write(f"python -m llmviz.parallel: {rule}\n")
        return WRONG
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


def _launched() -> bool:
    """As `llmviz.training.distributed.launched`, without torch, which takes seconds to import."""
    return "WORLD_SIZE" in os.environ and "RANK" in os.environ


def _alone(given: dict) -> int:
    plan = ParallelPlan(**{**given, "processes": given["processes"] or 2})
    for report in run(plan):
        _print(report)
    return 0


def _started(given: dict) -> int:
    """One of the processes that torchrun started."""
    import torch

    from llmviz.parallel.child_process import lost_another
    from llmviz.parallel.work import trained
    from llmviz.training.distributed import joined

    torch.set_num_threads(1)
    with joined("cpu") as world:
        plan = ParallelPlan(**{**given, "processes": given["processes"] or world.size})
        try:
            outcome = trained(plan, world, _print)
        except RuntimeError as error:
            if not lost_another(error):
                raise
            raise ValueError("another process of this run has ended") from None
    if outcome is not None:
        _print(outcome)
    return 0


def _print(report: Progress | Outcome) -> None:
    sys.stdout.write("\n".join(_lines(report)) + "\n")
    sys.stdout.flush()


def _lines(report: Progress | Outcome) -> Iterator[str]:
    if isinstance(report, Progress):
        yield f"step {report.step}: loss {report.loss:.4f} nats per token"
        return
    yield f"largest difference of the losses to one process: {report.loss_difference:.1e}"
    yield f"largest difference of the weights: {report.difference:.1e}"
    for number, process in enumerate(report.processes, 1):
        held = ", ".join(f"{kind} {process.bytes_held(kind):,} B" for kind in KINDS)
        yield f"process {number} holds: {held}"
        sent = ", ".join(
            f"{times:g} × {name} {number:,.0f} B" for name, (times, number) in process.sent.items()
        )
        kernel = "" if process.kernel is None else f"; its sockets: {process.kernel:,.0f} B"
        yield f"process {number} sends in a step: {sent}{kernel}"


if __name__ == "__main__":
    sys.exit(main())
