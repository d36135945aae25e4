"""What the run that the form describes will cost: parameters, memory, disk, time."""

import dataclasses
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from llmviz.course.lessons.training.runs import words
from llmviz.course.ui import kit, runs
from llmviz.models.memory_limits import check_memory, spoken_bytes
from llmviz.training.config import ONE_A_ROW, OWN_TEXT, Plan
from llmviz.training.schedule import warmup_note
from llmviz.training.throughput import Throughput

MEMORY_SHARE = 0.8  # of what is free now
# The steps that this server's processes have timed, by kind and amount of work: an estimate rests
# on them while no process is free.
_MEASURED: dict[Any, Throughput] = {}


def works(plan: Plan, text: str | None) -> bool:
    """Whether a run of this plan can be made here; where not, `show` says why."""
    try:
        _checked(plan, text)
    except ValueError:
        return False
    return True


def _checked(plan: Plan, text: str | None) -> tuple[Any, int]:
    guess, most = _estimated(plan, _digest(text), text)
    if plan.train.device in ("auto", "cpu"):
        check_memory(guess.memory, words.such_a_run, share=MEMORY_SHARE)
    return guess, most


def show(plan: Plan, text: str | None) -> None:
    """Say what the run will take, or in one line why it cannot be made."""
    try:
        guess, most = _checked(plan, text)
    except ValueError as error:
        kit.refuse(error)
        return
    seconds, basis = _seconds(plan, None if text is None else guess.vocab_size, guess.parameters)
    kit.prose(
        words.cost,
        parameters=f"{guess.parameters:,}",
        vocabulary=kit.count(guess.vocab_size, "token"),
        memory=spoken_bytes(guess.memory),
        disk=spoken_bytes(guess.disk),
        tokens=f"{guess.tokens_per_step:,}",
        epochs=_epochs(plan, guess.tokens_per_step, most),
        time=basis
        if seconds is None
        else words.time.format(time=kit.duration(seconds), basis=basis),
    )
    note = warmup_note(plan.train)
    if note:
        st.info(note)


def _digest(text: str | None) -> str:
    return hashlib.sha256((text or "").encode("utf-8")).hexdigest()


def _epochs(plan: Plan, per_step: int, most: int) -> str:
    if plan.windows in ONE_A_ROW:
        return ""
    times = plan.train.steps * per_step / max(1, most)
    return words.epochs.format(
        least="" if plan.tokenizer == "char" else words.epochs_least,
        times=f"{times:.2g}" if times < 10 else f"{times:,.0f}",
    )


def _plan_and_digest(plan: Plan, digest: str, text: str | None) -> tuple[str, str]:
    return json.dumps(plan.to_dict(), sort_keys=True), digest


def _estimated(plan: Plan, digest: str, text: str | None) -> tuple[Any, int]:
    """Return what a run takes, and the most tokens of its text. ValueError: it cannot run."""
    found = _estimated_or_why(plan, digest, text)
    if isinstance(found, str):
        raise ValueError(found)
    return found


@kit.cached(128, key=_plan_and_digest)
def _estimated_or_why(plan: Plan, digest: str, text: str | None) -> tuple[Any, int] | str:
    """A refusal is kept, too: what it rests on may be a whole corpus."""
    from llmviz.training.estimate import estimate, vocabulary
    from llmviz.training.plan import check_corpus

    try:
        if text is None:
            train, most = check_corpus(plan)
        else:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / OWN_TEXT).write_text(text, encoding="utf-8")
                train, most = check_corpus(plan, Path(folder))
        return estimate(plan, vocabulary(plan, train)), most
    except ValueError as error:
        return str(error)


def is_being_timed(plan: Plan, text: str | None) -> bool:
    """Whether a process that waits is measuring a step of this plan, or will as soon as it can."""
    if not _has_room():
        return False
    try:
        return _step_time(plan, _vocabulary(plan, text)) is None
    except ValueError:  # which is said where the costs are
        return False


def _has_room() -> bool:
    """Whether a process is free, or will be in a moment, to take the time of a step."""
    return runs.manager().training < runs.manager().limit


def _vocabulary(plan: Plan, text: str | None) -> int | None:
    """How many tokens the learner's own text makes; None for a text that the process has, too."""
    return None if text is None else _estimated(plan, _digest(text), text)[0].vocab_size


def _step_time(plan: Plan, vocab_size: int | None) -> tuple[float | None, str] | None:
    """Seconds of a step, as far as they are known, and why not."""
    # A step takes as long however many follow; the corpus is cut down to be read quickly.
    same = dataclasses.replace(
        plan.train, steps=1000, warmup_steps=0, seed=0, sample_every=0, log_every=1
    )
    if plan.corpus == "tiny-world":
        plan = dataclasses.replace(plan, corpus="tiny-world-sample", characters=None)
    return runs.manager().step_time(dataclasses.replace(plan, train=same), vocab_size)


def _seconds(plan: Plan, vocab_size: int | None, parameters: int) -> tuple[float | None, str]:
    """How long the run will take, and what that is based on."""
    from llmviz.training.estimate import run_seconds
    from llmviz.training.throughput import kind_of, predict_seconds, work

    known = _step_time(plan, vocab_size)
    if known is None:
        if _has_room():
            return None, words.time_measured
        step = predict_seconds(plan, parameters, [*_MEASURED.values(), *runs.paces()])
        if step is None:
            return None, words.time_busy.format(model=plan.model)
        return run_seconds(plan.train, step), words.time_estimated.format(model=plan.model)
    step, line = known
    if step is None:
        return None, kit.escape_markdown(line)
    amount = work(plan, parameters)
    _MEASURED[kind_of(plan), amount] = Throughput(kind_of(plan), amount, step)
    each = f"{1000 * step:.0f} ms" if step >= 0.002 else f"{1000 * step:.1f} ms"
    return run_seconds(plan.train, step), words.time_basis.format(each=each)
