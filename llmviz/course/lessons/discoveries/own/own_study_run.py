"""Training all runs of a study in this process, and counting the rules that its models keep."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from llmviz.course.lessons.discoveries.own.own_study import Study
from llmviz.course.lessons.discoveries.own.own_study_folder import (
    DONE,
    FILE,
    RULES,
    Result,
    results_of,
    run_name,
    settle,
    write_study,
)
from llmviz.training.errors import Diverged
from llmviz.training.files import write_json
from llmviz.training.reading import CONFIG, went_wrong

PROBES = 20  # of each rule


@dataclass(frozen=True)
class Going:
    """How far a study is: the run's name, and the steps done of all its runs."""

    run: str
    done: int
    total: int


def run_study(study: Study, folder: Path, texts: dict[str, str] | None = None) -> Iterator[Going]:
    """Train what is not trained yet into a folder, one run after another, and settle it.

    texts: the sha256 of each run's text that is expected. A run that goes wrong is kept, and the
    next one begins. A run that was interrupted goes on, bit for bit.
    Raises ValueError where a text is another one, or the folder cannot be written.
    """
    from llmviz.training.plan import prepare, prepare_again
    from llmviz.training.run_folder import run_in_folder

    write_study(folder, study)
    steps, plans = study.base.train.steps, study.runs()
    for number, (name, plan) in enumerate(plans.items()):
        out = folder / name
        if went_wrong(out):
            continue
        out.mkdir(exist_ok=True)
        run = prepare_again(out) if (out / CONFIG).is_file() else prepare(plan, folder=out)
        expected = (texts or {}).get(name)
        if expected and run.description["data"]["sha256"] != expected:
            raise ValueError(f"{FILE}: made.corpus_sha256.{name} is another text than the one here")
        with (
            contextlib.suppress(Diverged),
            contextlib.closing(run_in_folder(out, run, resume=True)) as records,
        ):
            for record in records:
                yield Going(name, number * steps + record.step, len(plans) * steps)
    for _ in score_study(study, folder):
        pass
    settle(folder, study, results_of(folder, study))


def to_score(study: Study, results: list[Result]) -> list[Result]:
    """Return the runs whose rules are to be counted yet."""
    if study.measure != "rules":
        return []
    return [run for run in results if run.ended == DONE and run.numbers["rules"] is None]


def score_study(study: Study, folder: Path) -> Iterator[int]:
    """Count for each trained run the rules that it keeps; yield how many runs are counted.

    The share is over all rules, as many probes of each: of two continuations, the right one is the
    more probable.
    """
    from llmviz.training.evaluate import probe_scores
    from llmviz.training.run_folder import load_trained

    for number, result in enumerate(to_score(study, results_of(folder, study)), 1):
        run = folder / run_name(result.place, result.seed)
        trained = load_trained(run)
        scores = probe_scores(trained.model, trained.tokenizer, None, PROBES)
        share = sum(score.of_two.share for score in scores.values()) / len(scores)
        write_json(run / RULES, {"share": share, "rules": len(scores), "probes": PROBES})
        yield number
