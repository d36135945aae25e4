"""`checkpoints make`: a bundled model trained, evaluated and exported again, by its recipe."""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.cli.options import Interruption, tell
from llmviz.cli.resume import was_begun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llmviz.training.config import Plan
    from llmviz.training.word_vectors import WordVectorPlan


ORDINALS = ("first", "second", "third", "fourth")  # parts of a recipe, in the card of what it makes


def run_make(given: argparse.Namespace) -> int:
    """Train by the recipe, evaluate, export."""
    from llmviz.files.paths import BUNDLED_CHECKPOINTS
    from llmviz.finetuning.recipes import TUNINGS
    from llmviz.language.bundle import TAGGER
    from llmviz.language.role_scores import ROLE_SCORES
    from llmviz.training.export import finish
    from llmviz.training.files import check_writable, removed_if_empty
    from llmviz.training.recipes import RECIPES, plan_of
    from llmviz.training.word_vectors import WordVectorPlan

    command = f"python -m llmviz checkpoints make {given.name}"
    if given.name in TUNINGS:
        return _make_tuning(given, command)
    if given.name == TAGGER:
        return _make_tagger(given, command)
    if given.name == ROLE_SCORES:
        return _make_role_scores(given, command)
    target = Path(given.to) / given.name if given.to else BUNDLED_CHECKPOINTS / given.name
    if isinstance(plan := plan_of(given.name), WordVectorPlan):
        if given.steps:
            raise ValueError(f"{given.name} is trained by epochs, not steps; leave --steps out")
        check_writable(target)
        return _make_vectors(given, plan, target, command)
    _check_trial(given)
    work = Path(given.work or f"runs/{given.name}")
    for folder in (target, work):  # before the minutes or hours that training takes
        check_writable(folder)
    steps = {"steps": given.steps} if given.steps else {}
    plan = dataclasses.replace(
        plan, train=dataclasses.replace(plan.train, threads=given.threads, **steps)
    )
    recipe_parts = _parts(plan, RECIPES[given.name].then, given.steps)
    numbers, interruption = range(len(recipe_parts)), Interruption()
    begun = max(part for part in numbers if part == 0 or _folder(work, part).exists())
    with interruption.watched(), removed_if_empty(work):
        for part in numbers[begun:]:
            if part:
                _fork(work, part, recipe_parts, given.name)
            _train(recipe_parts[part][0], _folder(work, part), given, command, interruption)
            if interruption():
                return interruption.exit_code
    card = finish(_folder(work, numbers[-1]), target, given.name)
    tell(card, f"{target}: {card['score']}", json=given.json)
    return 0


def _train(
    plan: Plan, work: Path, given: argparse.Namespace, command: str, interruption: Interruption
) -> None:
    """Train in a folder, going on with what is there."""
    from llmviz.cli.train import show
    from llmviz.training.plan import prepare, prepare_again
    from llmviz.training.run_folder import CONFIG

    resume = (work / CONFIG).exists()
    if resume:
        _check_same(plan, work, given.name)
        prepared = prepare_again(work, threads=given.threads)
    else:
        prepared = prepare(plan, command)
    show(
        prepared,
        str(work),
        interruption,
        resume=resume or was_begun(work),
        json=given.json,
    )


def _folder(work: Path, part: int) -> Path:
    """The folder of a part of a recipe, counted from 0."""
    if part == 0:
        return work
    return work.with_name(f"{work.name}-then" if part == 1 else f"{work.name}-then-{part}")


def _parts(
    plan: Plan, then: Sequence[dict[str, Any]], steps: int | None
) -> list[tuple[Plan, dict[str, Any]]]:
    """The plan of each part of a recipe, and what it changes in the one before.

    steps: those of a trial's first part; each other part adds as many.
    """
    from llmviz.training.forks import fork_plan

    parts: list[tuple[Plan, dict[str, Any]]] = [(plan, {})]
    for changes in then:
        before = parts[-1][0]
        if steps:
            changes = {**changes, "steps": before.train.steps + steps}
            if "schedule_start" in changes:
                changes["schedule_start"] = before.train.steps
        parts.append((fork_plan(before, before.train.steps, changes), changes))
    return parts


def _fork(work: Path, part: int, parts: list[tuple[Plan, dict[str, Any]]], name: str) -> None:
    """Begin a part of a recipe, if it was not, from the last weights of the part before.

    These are written with 16 bits, as those that come with the project are, so that the part can
    be made again from either.
    """
    from llmviz.training.export import export
    from llmviz.training.forks import fork_of, make_fork
    from llmviz.training.run_folder import read_description

    folder, (before, _), (_, changes) = _folder(work, part), parts[part - 1], parts[part]
    if not folder.exists():
        unfinished = work.with_name(f".tmp-{folder.name}")
        shutil.rmtree(unfinished, ignore_errors=True)
        with tempfile.TemporaryDirectory() as exported:
            export(_folder(work, part - 1), exported)
            label = f"{name}, {ORDINALS[part - 1]} part"
            make_fork(Path(exported), before.train.steps, unfinished, changes, label)
        unfinished.replace(folder)
    begun = fork_of(read_description(folder))
    if begun is None or begun["step"] != before.train.steps:
        raise ValueError(f"{folder} holds another run than that of {name}; choose another --work")


def _check_same(plan: Plan, work: Path, name: str) -> None:
    """Refuse a folder whose run is not the recipe's, whatever its threads.

    The learning rate follows the number of steps, so a run of another number is another run.
    """
    from llmviz.training.plan import plan_of
    from llmviz.training.run_folder import read_description

    there = plan_of(read_description(work), str(work))
    train = dataclasses.replace(there.train, steps=plan.train.steps, threads=plan.train.threads)
    windows = there.windows if plan.windows == "auto" else plan.windows
    if dataclasses.replace(plan, windows=windows) != dataclasses.replace(there, train=train):
        raise ValueError(f"{work} holds another run than that of {name}; choose another --work")
    if there.train.steps != plan.train.steps:
        raise ValueError(
            f"{work} holds a run of {there.train.steps:,} steps, not of {plan.train.steps:,}; "
            "choose another --work"
        )


def _check_trial(given: argparse.Namespace) -> None:
    """Refuse to put a model of fewer steps in the place of the bundled one."""
    if given.steps and not given.to:
        raise ValueError(
            "a trial with --steps is not what comes with the project; say with --out where it goes"
        )


def _make_tuning(given: argparse.Namespace, command: str) -> int:
    """An adapter for a bundled model: the fine-tuning itself is kept in --work and resumed."""
    from llmviz.cli.finetune import report, train
    from llmviz.files.paths import TUNED
    from llmviz.finetuning.plan import plan_of_tuning
    from llmviz.finetuning.preparation import prepare
    from llmviz.finetuning.recipes import TUNINGS
    from llmviz.finetuning.runs import export, prepare_again
    from llmviz.training.files import check_writable, removed_if_empty
    from llmviz.training.run_folder import CONFIG

    _check_trial(given)
    target = (Path(given.to) if given.to else TUNED) / given.name
    work = Path(given.work or f"runs/{given.name}")
    for folder in (target, work):
        check_writable(folder)
    plan = TUNINGS[given.name].plan
    changes = {"threads": given.threads, **({"steps": given.steps} if given.steps else {})}
    plan = dataclasses.replace(plan, train=dataclasses.replace(plan.train, **changes))
    interruption = Interruption()
    resume = (work / CONFIG).exists()
    if resume and plan_of_tuning(work)[0] != plan:
        raise ValueError(
            f"{work} holds another run than that of {given.name}; choose another --work"
        )
    with interruption.watched(), removed_if_empty(work):
        tuning = prepare_again(work) if resume else prepare(plan, command)
        train(
            tuning,
            str(work),
            interruption,
            resume=resume or was_begun(work),
            json=given.json,
        )
    if not interruption():
        report(export(work, tuning, target), json=given.json)
    return interruption.exit_code


def _make_tagger(given: argparse.Namespace, command: str) -> int:
    """Two linear layers, fitted to their end."""
    from llmviz.language.bundle import make_tagger

    def summary(card: dict[str, Any]) -> str:
        return f"{card['accuracy']:.4f} of the tags right, F1 of names {card['span_f1']:.4f}"

    return _make_at_once(given, command, make_tagger, summary)


def _make_role_scores(given: argparse.Namespace, command: str) -> int:
    """Measurements without weights."""
    from llmviz.language.role_scores import measure, scores_of

    def summary(card: dict[str, Any]) -> str:
        parts = [f"{name} {scores_of(card, name).accuracy:.4f}" for name in card["taggers"]]
        return f"of the tags right: {', '.join(parts)}"

    return _make_at_once(given, command, measure, summary)


def _make_at_once(
    given: argparse.Namespace,
    command: str,
    make: Callable[[Path, str], dict[str, Any]],
    summary: Callable[[dict[str, Any]], str],
) -> int:
    """Make what takes minutes at most, so that there is no run to resume.

    make(folder, command): writes the folder and returns its card. summary: a line about the card.
    """
    from llmviz.files.paths import TUNED
    from llmviz.training.files import check_writable

    if given.steps:
        raise ValueError(f"{given.name} is made to its end; leave --steps out")
    target = (Path(given.to) if given.to else TUNED) / given.name
    check_writable(target)
    card = make(target, command)
    tell(card, f"{target}: {summary(card)}", json=given.json)
    return 0


def _make_vectors(
    given: argparse.Namespace, plan: WordVectorPlan, target: Path, command: str
) -> int:
    """Word vectors: seconds of work, so there is no run to resume."""
    from tqdm import tqdm

    from llmviz.training.files import read_json
    from llmviz.training.word_vectors import make

    with tqdm(unit=" words", unit_scale=True, disable=given.json) as bar:
        for frame in make(plan, target, command, given.name):
            bar.total = frame.total
            bar.update(frame.read - bar.n)
            bar.set_postfix(loss=f"{frame.loss:.3f}")
    card = read_json(target / "card.json")
    line = f"{target}: {card['nats_per_pair']:.3f} nats a pair, {card['analogies']}"
    tell(card, line, json=given.json)
    return 0
