"""`checkpoints`: the bundled models, making them again, and scoring one on probes."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.cli.options import Interruption, place, table, whole, write, write_json
from llmviz.training.config import MOST_THREADS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from llmviz.training.config import Plan
    from llmviz.training.word_vectors import WordVectorPlan

MOST_PROBES = 10_000  # of each rule; they are kept in memory
ORDINALS = ("first", "second", "third", "fourth")  # parts of a recipe, in the card of what it makes


def add(commands: Any) -> None:
    """Declare the command and its parts."""
    parser = commands.add_parser(
        "checkpoints",
        help="list the bundled models, score one, or train one again",
        description="The models that come with the project, each with its card.",
    )
    parts = parser.add_subparsers(
        dest="part", metavar="list|make|score", required=True, parser_class=type(parser)
    )
    listing = parts.add_parser("list", help="names, and what each card says")
    listing.set_defaults(run=run_list)
    make = parts.add_parser("make", help="train, evaluate and export one")
    make.add_argument("name", metavar="NAME", help="see `checkpoints list`")
    make.add_argument(
        "--work", type=place, metavar="DIR", help="where the run itself is kept; resumed if there"
    )
    make.add_argument(
        "--to", type=place, metavar="DIR", help="where the result goes; default data/checkpoints"
    )
    make.add_argument(
        "--threads", type=whole(0, MOST_THREADS), default=0, help="CPU threads, 0 = measure"
    )
    make.add_argument("--steps", type=whole(1), help="another number of steps, for a trial")
    make.set_defaults(run=run_make)
    score = parts.add_parser(
        "score", help="in how many probes of each rule of tiny-world a model is right"
    )
    score.add_argument("name", metavar="NAME", help="of a bundled model, or the folder of a run")
    score.add_argument(
        "--probes", type=whole(1, MOST_PROBES), default=1000, help="of each rule; default 1000"
    )
    score.add_argument(
        "--seed", type=whole(0), default=0, help="of their stories; the cards' scores are of 0"
    )
    score.set_defaults(run=run_score)
    for part in (listing, make, score):
        part.add_argument("--json", action="store_true", help="one JSON object")


def run_list(given: argparse.Namespace) -> int:
    """Write the recipes and which of them are there."""
    from llmviz.finetuning.recipes import TUNINGS
    from llmviz.language import role_scores
    from llmviz.language.bundle import DESCRIPTION, TAGGER
    from llmviz.paths import BUNDLED_CHECKPOINTS, TUNED
    from llmviz.training.files import read_json
    from llmviz.training.recipes import RECIPES

    listed: dict[str, Any] = {}
    described = {name: recipe.description for name, recipe in {**RECIPES, **TUNINGS}.items()}
    described |= {TAGGER: DESCRIPTION, role_scores.ROLE_SCORES: role_scores.DESCRIPTION}
    for name, description in described.items():
        folder = BUNDLED_CHECKPOINTS if name in RECIPES else TUNED
        card = folder / name / "card.json"
        listed[name] = {
            "description": description,
            "card": read_json(card) if card.exists() else None,
        }
    if given.json:
        write_json(listed)
        return 0
    rows = [("checkpoint", "parameters", "nats per token", "lowest of its probes", "what it is")]
    for name, about in listed.items():
        card = about["card"] or {}
        score = card.get("score", {}).get("nats_per_token")
        rows.append(
            (
                name,
                f"{card['parameters']:,}" if card else "not made",
                f"{score:.4f}" if score else "",
                _lowest(card),
                about["description"],
            )
        )
    write(table(rows))
    return 0


def _lowest(card: dict[str, Any]) -> str:
    """The kind of probe that a model gets right least often, "" for a card without probes."""
    from llmviz.training.measures import probe_shares

    scores = probe_shares(card)
    if not scores:
        return ""
    kind = min(scores, key=lambda one: scores[one].share)
    return f"{kind} {scores[kind]}"


def run_score(given: argparse.Namespace) -> int:
    """Write in how many probes of each rule a model is right, with the interval."""
    from llmviz.models.catalogue import able
    from llmviz.training.evaluate import probe_scores
    from llmviz.training.measures import CONFIDENCE
    from llmviz.training.recipes import find_checkpoint
    from llmviz.training.runs import load_trained, read_description

    folder = find_checkpoint(given.name)
    description = read_description(folder)
    corpus = str(description.get("data", {}).get("corpus"))
    if not able(description["model"]["name"], "next_token") or not corpus.startswith("tiny-world"):
        raise ValueError(
            "probes are of models that continue stories of tiny-world; "
            f"{given.name} is {description['model']['name']} on {corpus}"
        )
    trained = load_trained(folder)
    scores = probe_scores(trained.model, trained.tokenizer, None, given.probes, given.seed)
    if given.json:
        write_json({kind: share.to_dict() for kind, share in scores.items()})
        return 0
    rows = [("probes", "right", "of", f"share (interval of {CONFIDENCE:.0%})")]
    rows += [(kind, f"{one.right:,}", f"{one.count:,}", str(one)) for kind, one in scores.items()]
    write(table(rows))
    return 0


def run_make(given: argparse.Namespace) -> int:
    """Train by the recipe, evaluate, export."""
    from llmviz.finetuning.recipes import TUNINGS
    from llmviz.language.bundle import TAGGER
    from llmviz.language.role_scores import ROLE_SCORES
    from llmviz.paths import BUNDLED_CHECKPOINTS
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
    if given.steps and not given.to:
        raise ValueError(
            "a trial with --steps is not what comes with the project; say --to where it goes"
        )
    work = Path(given.work or f"runs/{given.name}")
    for folder in (target, work):  # before the minutes or hours that training takes
        check_writable(folder)
    steps = {"steps": given.steps} if given.steps else {}
    plan = plan_of(given.name, threads=given.threads, **steps)
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
    if given.json:
        write_json(card)
    else:
        write(f"{target}: {card['score']}")
    return 0


def _train(
    plan: Plan, work: Path, given: argparse.Namespace, command: str, interruption: Interruption
) -> None:
    """Train in a folder, going on with what is there."""
    from llmviz.cli.train import show
    from llmviz.training.plan import prepare, prepare_again
    from llmviz.training.runs import CONFIG

    resume = (work / CONFIG).exists()
    if resume:
        _check_same(plan, work, given.name)
        prepared = prepare_again(work, threads=given.threads)
    else:
        prepared = prepare(plan, command)
    show(prepared, str(work), interruption, resume, json=given.json)


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
    from llmviz.training.runs import read_description

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
    from llmviz.training.runs import read_description

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


def _make_tuning(given: argparse.Namespace, command: str) -> int:
    """An adapter for a bundled model: the fine-tuning itself is kept in --work and resumed."""
    from llmviz.cli.finetune import report, train
    from llmviz.finetuning.preparation import prepare
    from llmviz.finetuning.recipes import TUNINGS
    from llmviz.finetuning.runs import export, prepare_again, read_tuning
    from llmviz.paths import TUNED
    from llmviz.training.files import check_writable, removed_if_empty
    from llmviz.training.runs import CONFIG

    if given.steps and not given.to:
        raise ValueError(
            "a trial with --steps is not what comes with the project; say --to where it goes"
        )
    target = (Path(given.to) if given.to else TUNED) / given.name
    work = Path(given.work or f"runs/{given.name}")
    for folder in (target, work):
        check_writable(folder)
    plan = TUNINGS[given.name].plan
    changes = {"threads": given.threads, **({"steps": given.steps} if given.steps else {})}
    plan = dataclasses.replace(plan, train=dataclasses.replace(plan.train, **changes))
    interruption = Interruption()
    resume = (work / CONFIG).exists()
    if resume and read_tuning(work)["plan"] != json.loads(json.dumps(plan.to_dict())):
        raise ValueError(
            f"{work} holds another run than that of {given.name}; choose another --work"
        )
    with interruption.watched(), removed_if_empty(work):
        tuning = prepare_again(work) if resume else prepare(plan, command)
        train(tuning, str(work), interruption, resume, given.json)
    if not interruption():
        report(export(work, tuning, target), given.json)
    return interruption.exit_code


def _make_tagger(given: argparse.Namespace, command: str) -> int:
    """Two linear layers: seconds of work, so there is no run to resume."""
    from llmviz.language.bundle import make_tagger
    from llmviz.paths import TUNED
    from llmviz.training.files import check_writable

    if given.steps:
        raise ValueError(f"{given.name} is fitted to its end; leave --steps out")
    target = (Path(given.to) if given.to else TUNED) / given.name
    check_writable(target)
    card = make_tagger(target, command)
    if given.json:
        write_json(card)
    else:
        write(
            f"{target}: {card['accuracy']:.4f} of the tags right, F1 of names {card['span_f1']:.4f}"
        )
    return 0


def _make_role_scores(given: argparse.Namespace, command: str) -> int:
    """Measurements without weights: minutes of work, so there is no run to resume."""
    from llmviz.language.role_scores import measure, scores_of
    from llmviz.paths import TUNED
    from llmviz.training.files import check_writable

    if given.steps:
        raise ValueError(f"{given.name} is measured to its end; leave --steps out")
    target = (Path(given.to) if given.to else TUNED) / given.name
    check_writable(target)
    card = measure(target, command)
    if given.json:
        write_json(card)
    else:
        parts = [f"{name} {scores_of(card, name).accuracy:.4f}" for name in card["taggers"]]
        write(f"{target}: of the tags right: {', '.join(parts)}")
    return 0


def _make_vectors(
    given: argparse.Namespace, plan: WordVectorPlan, target: Path, command: str
) -> int:
    """Word vectors: seconds of work, so there is no run to resume."""
    from tqdm import tqdm

    from llmviz.training.files import read_json
    from llmviz.training.word_vector_files import make

    with tqdm(unit=" words", unit_scale=True, disable=given.json) as bar:
        for frame in make(plan, target, command, given.name):
            bar.total = frame.total
            bar.update(frame.read - bar.n)
            bar.set_postfix(loss=f"{frame.loss:.3f}")
    card = read_json(target / "card.json")
    if given.json:
        write_json(card)
    else:
        write(f"{target}: {card['nats_per_pair']:.3f} nats a pair, {card['analogies']}")
    return 0
