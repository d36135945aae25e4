"""What `train` says before its first step: of the model, its text, the machine and the time."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llmviz.cli.options import table
from llmviz.training import distributed
from llmviz.training.checkpoints import Checkpoint
from llmviz.training.device import Compute
from llmviz.training.errors import CheckpointError
from llmviz.training.estimate import run_seconds
from llmviz.training.files import read_json
from llmviz.training.preparation import settled
from llmviz.training.reading import STATE, steps_saved
from llmviz.training.run_folder import Run
from llmviz.training.stream import Stream
from llmviz.training.throughput import fastest_step


def header(
    run: Run, out: Path, *, resume: bool, ended: Callable[[], bool] = lambda: False
) -> tuple[str, Run]:
    """The lines, and the run with what was found out for them, so that it need not be again.

    A few steps of a copy of the model are timed, where the run is on one process and not compiled:
    it would be compiled twice, and that takes longer than many a run.
    Raises ValueError for a device that is not there.
    """
    saved = steps_saved(out) if resume else []
    settings: dict[str, Any] = {}
    if saved:
        try:
            settings = read_json(saved[-1][1] / STATE).get("settings", {})
        except CheckpointError:  # the one before it will be taken
            saved = []
    done = saved[-1][0] if saved else 0
    before = Checkpoint(done, 0, 0.0, {}, {}, settings=settings) if settings else None
    compute = settled(run.model, run.data, run.config, before)
    known = dataclasses.replace(run.config, dtype=compute.dtype_name, threads=compute.threads)
    rows = [
        ("model", _model(run)),
        *_text(run),
        ("device", _device(compute)),
        ("steps", _steps(run, done)),
    ]
    if distributed.current().size == 1 and done < run.config.steps and not compute.compiled:
        found = fastest_step(run.model, run.data, known, ended)
        if found is not None:
            seconds = run_seconds(run.config, found.seconds, done)
            rows.append(
                (
                    "expected",
                    f"{found.tokens / found.seconds:,.0f} tokens a second, {_span(seconds)}",
                )
            )
    return table(rows), run if resume else dataclasses.replace(run, config=known)


def _model(run: Run) -> str:
    count = sum(tensor.numel() for tensor in run.model.parameters())
    trained = sum(tensor.numel() for tensor in run.model.parameters() if tensor.requires_grad)
    part = "" if trained == count else f", {trained:,} of them trained"
    about = run.description["model"]
    return f"{about['name'] if isinstance(about, dict) else about}, {count:,} parameters{part}"


def _text(run: Run) -> list[tuple[str, str]]:
    """The row about the text, where the run learns from one."""
    about = run.description["data"]
    if "corpus" not in about:
        return []
    data = getattr(run.data, "text", run.data)
    streams = [getattr(data, part, None) for part in ("train", "validation")]
    counts = [len(stream.ids) for stream in streams if isinstance(stream, Stream)]
    size = f"{about.get('documents') or 0:,} documents to learn from"
    if len(counts) == len(streams):
        size = f"{counts[0]:,} tokens to learn from and {counts[1]:,} held out"
    return [("text", f"{about['corpus']}, {size}")]


def _device(compute: Compute) -> str:
    threads = f", {compute.threads} thread{'s' * (compute.threads > 1)}"
    compiled = ", compiled" if compute.compiled else ""
    on_cpu = threads if compute.device.type == "cpu" else ""
    processes = distributed.current().size
    several = f", {processes} processes" if processes > 1 else ""
    return f"{compute.device.type}, {compute.dtype_name}{on_cpu}{compiled}{several}"


def _steps(run: Run, done: int) -> str:
    gone = f", {done:,} of them done" if done else ""
    return f"{run.config.steps:,} of {run.config.batch_size} rows{gone}"


def _span(seconds: float) -> str:
    """A time in its two largest units.

    >>> _span(0.2), _span(75), _span(5000)
    ('1 s', '1 min 15 s', '1 h 23 min')
    """
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
