"""What the run that the form describes will cost: parameters, memory, disk, time."""

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import streamlit as st

from llmviz.course.lessons.training.runs import words
from llmviz.course.ui import kit
from llmviz.course.ui.step_time import BUSY, ESTIMATED, MEASURING, step_time
from llmviz.models.memory_limits import check_memory, spoken_bytes
from llmviz.training.config import ONE_A_ROW, OWN_TEXT, Plan
from llmviz.training.schedule import warmup_note

MEMORY_SHARE = 0.8  # of what is free now


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
    seconds, basis = _seconds(plan, _vocabulary(text, guess), guess.parameters)
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
        times=kit.roughly(times),
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
    try:
        guess, _ = _estimated(plan, _digest(text), text)
    except ValueError:  # which is said where the costs are
        return False
    return step_time(plan, guess.parameters, _vocabulary(text, guess)).how == MEASURING


def _vocabulary(text: str | None, guess: Any) -> int | None:
    """How many tokens the learner's own text makes; None for a text that the process has, too."""
    return None if text is None else guess.vocab_size


def _seconds(plan: Plan, vocab_size: int | None, parameters: int) -> tuple[float | None, str]:
    """How long the run will take, and what that is based on."""
    from llmviz.training.estimate import run_seconds

    how, step, line = step_time(plan, parameters, vocab_size)
    if step is None:
        unknown = {MEASURING: words.time_measured, BUSY: words.time_busy.format(model=plan.model)}
        return None, unknown.get(how, kit.escape_markdown(line))
    each = f"{1000 * step:.0f} ms" if step >= 0.002 else f"{1000 * step:.1f} ms"
    basis = words.time_estimated if how == ESTIMATED else words.time_basis
    return run_seconds(plan.train, step), basis.format(model=plan.model, each=each)
