"""`study`: train all runs of a study again, from the file that the page writes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llmviz.cli.options import place, write, write_json
from llmviz.files.whole import TEMPORARY

if TYPE_CHECKING:
    from llmviz.course.lessons.discoveries.own.own_study import Study
    from llmviz.course.lessons.discoveries.own.own_study_folder import Result


def add(commands: Any) -> None:
    """Declare the command and its part."""
    parser = commands.add_parser(
        "study",
        help="train all runs of a study again",
        examples=("study run study.toml", "study run my-study/study.toml --out again"),
        description=(
            "A study compares three values of one setting over some seeds. The page “Your own "
            "discovery” makes one, and its folder has a study.toml with all that is needed."
        ),
    )
    parts = parser.add_subparsers(
        dest="part", metavar="run", required=True, parser_class=type(parser)
    )
    runs = parts.add_parser(
        "run",
        help="train them, write results.csv, and compare it with the one beside the file",
        description=(
            "Train every run that study.toml names, one after another. Where results.csv lies "
            "beside the file, the numbers are compared to the last digit."
        ),
    )
    runs.add_argument("file", type=place, metavar="FILE", help="a study.toml")
    runs.add_argument(
        "--out", type=place, metavar="DIR", help="where the runs go; default: again, beside FILE"
    )
    runs.add_argument(
        "--resume", action="store_true", help="go on with a study that was interrupted in DIR"
    )
    runs.add_argument("--json", action="store_true", help="one JSON object")
    runs.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Train, say what came out, and whether it is what came out before."""
    from tqdm import tqdm

    from llmviz.course.lessons.discoveries.own.own_study_folder import (
        FILE,
        RESULTS,
        differing,
        expected_texts,
        read_study,
        results_of,
    )

    source = Path(given.file)
    if source.is_dir():
        source = source / FILE
    study, texts = read_study(source), expected_texts(source)
    out = Path(given.out) if given.out else source.parent / "again"
    _take(out, study.key, resume=given.resume)

    from llmviz.course.lessons.discoveries.own.own_study_run import run_study
    from llmviz.training.memory import keep_freed_memory

    keep_freed_memory()
    total = study.base.train.steps * len(study.values) * study.seeds
    with tqdm(total=total, unit="step", file=sys.stderr) as bar:
        for going in run_study(study, out, texts):
            bar.update(going.done - bar.n)
            bar.set_postfix_str(going.run)
    results, before = results_of(out, study), source.parent / RESULTS
    found = None
    if before.is_file() and out.resolve() != source.parent.resolve():
        now = (out / RESULTS).read_text(encoding="utf-8")
        found = differing(before.read_text(encoding="utf-8"), now)
    if given.json:
        write_json(_told(study, out, results, found))
        return 0
    for result in results:
        number = result.numbers[study.measure]
        line = result.line or ("not reached" if number is None else f"{study.measure} {number:.6g}")
        write(f"{study.setting} = {study.values[result.place]}, seed {result.seed}: {line}")
    write(f"in {out}")
    if found is not None:
        for value, seed, name, old, new in found[:10]:
            write(f"{study.setting} = {value}, seed {seed}: {name} was {old}, is {new}")
        write(
            f"{len(found)} number{'s differ' if len(found) > 1 else ' differs'} from {before}"
            if found
            else f"all numbers are those in {before}, to the last bit"
        )
    return 0


def _told(
    study: Study, out: Path, results: Sequence[Result], found: Sequence[Sequence[str]] | None
) -> dict[str, Any]:
    """What --json says. differing: null where there is nothing to compare with."""
    names = ("value", "seed", "name", "was", "is")
    return {
        "folder": str(out),
        "setting": study.setting,
        "measure": study.measure,
        "runs": [
            {
                "value": study.values[result.place],
                "seed": result.seed,
                "ended": result.ended,
                "problem": result.line,
                "numbers": dict(result.numbers),
            }
            for result in results
        ],
        "differing": None
        if found is None
        else [dict(zip(names, row, strict=True)) for row in found],
    }


def _take(out: Path, key: str, *, resume: bool) -> None:
    """Raise ValueError for a folder that is not free, or holds another study.

    What a killed process left half-written goes.
    """
    from llmviz.course.lessons.discoveries.own.own_study_folder import FILE, read_study
    from llmviz.training.files import remove_unfinished

    if resume:
        if not (out / FILE).is_file():
            raise ValueError(f"there is no study in {out} to resume; leave --resume out")
        if read_study(out / FILE).key != key:
            raise ValueError(f"{out} holds another study; choose another folder")
    else:
        there = out.iterdir() if out.is_dir() else [out] if out.exists() else []
        if any(not path.name.startswith(TEMPORARY) for path in there):
            raise ValueError(
                f"{out} already holds files; add --resume to go on with a study there, or choose "
                "another folder"
            )
    remove_unfinished(out)
