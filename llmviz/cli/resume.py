"""`train` and the folder it is given: a new run, or one to go on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llmviz.files.whole import TEMPORARY
from llmviz.training.reading import CONFIG, METRICS, TOKENIZER, read_description


def was_begun(out: Path) -> bool:
    """Whether a run's folder was begun by a process that was killed before the first step."""
    there = {path.name for path in out.iterdir()} if out.is_dir() else set()
    whole = {name for name in there if not name.startswith(TEMPORARY)}
    return METRICS in whole and whole <= {METRICS, TOKENIZER}


def take_folder(out: Path, *, resume: bool) -> None:
    """Make the folder of a run that begins.

    Raises ValueError if it holds anything else, with `resume` anything but what a run that was
    killed before its first step leaves; if it is to be resumed and is not there; and if it cannot
    be written.
    """
    from llmviz.training.run_folder import prepare_folder

    if resume and not out.exists():
        raise ValueError(f"there is no folder {out} to resume; leave --resume out to begin there")
    if out.is_dir():
        there = {path.name for path in out.iterdir() if not path.name.startswith(TEMPORARY)}
        others = sorted(there - {METRICS, TOKENIZER})
        if resume and others:
            raise ValueError(f"{out} holds {others[0]} and no run to resume; choose another folder")
        if there and not (resume or others):
            raise ValueError(
                f"{out} holds what a run left that was ended before its first step; add --resume "
                "to begin it again, or choose another folder"
            )
    if not resume and (out / CONFIG).exists():
        raise ValueError(
            f"{out} already holds a run; add --resume to go on with it, or choose another folder"
        )
    prepare_folder(out, resume=resume)


def changes_of(
    out: Path, planned: dict[str, Any], options: dict[str, Any], changes: dict[str, Any]
) -> dict[str, Any]:
    """The settings of training to set anew in the run that lies in `out`.

    planned: fields of the plan, and options: settings of the model, as they were given again; the
      same line that began a run goes on with it.
    Raises ValueError for what cannot change in a run, and for fewer steps than it has done.
    """
    from llmviz.training.newest_weights import newest_step
    from llmviz.training.plan import plan_of

    description = read_description(out)
    plan = plan_of(description, str(out / CONFIG))
    if planned.get("windows") == "auto":  # the folder says what that came to
        del planned["windows"]
    own = description["model"]["config"]
    for given, there in ((planned, plan.to_dict()), (options, own)):
        for name, value in given.items():
            if name not in there or there[name] != value:
                known = f"it is {there[name]}" if name in there else "it has none"
                raise ValueError(
                    f"{name} cannot change in a run that is resumed; {known}, got {value}"
                )
    done = newest_step(out) or 0
    if changes.get("steps", done) < done:
        raise ValueError(f"steps must be at least the {done} done in {out}; got {changes['steps']}")
    rate = changes.get("learning_rate", plan.train.learning_rate)
    if rate != plan.train.learning_rate and "min_lr" not in changes:
        changes = {**changes, "min_lr": rate / 10}
    return changes
