"""The folder of a study: what is written there, and reading it back. No torch.

FOLDER/study.toml        all settings, what was expected, versions, the texts' sha256
FOLDER/value-1-seed-0/   each run: config.json, metrics.jsonl …, as any run has them
FOLDER/results.csv       a row for each run, numbers to their last digit
FOLDER/README.md         what it is, and the one line that repeats it
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from llmviz.course.lessons.discoveries.own.own_study import Study, run_name
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.files.text import read_text_file
from llmviz.files.whole import write_whole, writing
from llmviz.runs import store
from llmviz.training.config import Plan
from llmviz.training.curves import Curve, CurveFile
from llmviz.training.files import read_json
from llmviz.training.reading import (
    CONFIG,
    METRICS,
    MODEL,
    last_record,
    read_description,
    went_wrong,
)
from llmviz.training.references import KEY as REFERENCES

FILE, RESULTS, README = "study.toml", "results.csv", "README.md"
RULES = "rules.json"  # in a run's folder: the share of the grammar's rules that it keeps
FORMAT = 1
STUDIES = "studies"  # below RUNS: the studies that visitors made
BUNDLED = EXPERIMENT_FOLDER / "study"  # the one that comes with the project
LARGEST = 2**18  # bytes of a study.toml
NUMBERS = ("validation", "train", "floor", "gap", "reach", "rules", "parameters", "pace")
MEASURED_ANEW = ("pace",)  # what differs each time, on the same machine too
COLUMNS = ("value", "seed", "ended", "steps", *NUMBERS, "corpus_sha256")
_KEYS = {
    "setting": str,
    "values": list,
    "measure": str,
    "seeds": int,
    "target": float,
    "prediction": str,
    "hypothesis": str,
    "plan": dict,
}
_KINDS = {str: "a text", list: "a list", int: "a whole number", float: "a number", dict: "a table"}
DONE, WRONG, GOES, WAITS = "done", "diverged", "begun", "waits"


@dataclass(frozen=True)
class Result:
    """One run of a study: how it ended, its step, its line where it went wrong, its numbers.

    numbers: by NUMBERS; None is what was not measured, or not reached.
    """

    place: int
    seed: int
    ended: str
    steps: int
    line: str
    numbers: Mapping[str, float | None]
    sha256: str = ""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.ended in (DONE, WRONG)


def folder_of(study: Study) -> Path:
    """Return where a study lies, or will lie: below RUNS, or where the bundled one is."""
    own = store.root() / STUDIES / study.key
    if not own.exists() and _is_bundled(study):
        return BUNDLED
    return own


def _is_bundled(study: Study) -> bool:
    with contextlib.suppress(ValueError, OSError):
        return (BUNDLED / FILE).is_file() and read_study(BUNDLED / FILE).key == study.key
    return False


def write_study(folder: Path, study: Study) -> None:
    """Write study.toml and README.md into a folder, which is made where it is not there.

    Raises ValueError where it cannot be written.
    """
    with writing(f"the study in {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        _write_toml(folder, study, {})
        text = _readme(study)
        write_whole(folder / README, lambda path: path.write_text(text, encoding="utf-8"))


def _write_toml(folder: Path, study: Study, made: Mapping[str, Any]) -> None:
    import tomli_w

    values: dict[str, Any] = {"format": FORMAT}
    values |= {name: getattr(study, name) for name in _KEYS if name != "plan"}
    values["values"] = list(study.values)
    values["plan"] = _plain(study.base.to_dict())
    if made:
        values["made"] = dict(made)
    head = "# A study: `python -m llmviz study run study.toml` trains all its runs again.\n"
    text = head + tomli_w.dumps(values)
    write_whole(folder / FILE, lambda path: path.write_text(text, encoding="utf-8"))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Values as TOML has them, which knows no None."""
    return {
        name: _plain(raw) if isinstance(raw, dict) else list(raw) if isinstance(raw, tuple) else raw
        for name, raw in values.items()
        if raw is not None
    }


def read_study(path: Path) -> Study:
    """Return the study in a file.

    Raises ValueError naming the file, and the key, where something is absent, unknown, of another
    kind, or breaks a rule.
    """
    return _study_in(path, _values_in(path))


def expected_texts(path: Path) -> dict[str, str]:
    """Return the sha256 of the text of each run, by its folder's name; empty before it was made.

    Raises ValueError naming the file and the key.
    """
    made = _values_in(path).get("made", {})
    texts = made.get("corpus_sha256", {}) if isinstance(made, dict) else None
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"{path}: made.corpus_sha256 must be a table of texts")
    return texts


def _values_in(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"there is no study {path}")
    try:
        return tomllib.loads(read_text_file(path, LARGEST))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} cannot be read as TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} cannot be read as TOML: it is nested too deeply") from None


def _study_in(path: Path, values: dict[str, Any]) -> Study:
    if values.get("format") != FORMAT:
        raise ValueError(f"{path}: format must be {FORMAT}; got {values.get('format')!r:.40}")
    for name in values:
        if name not in (*_KEYS, "format", "made"):
            raise ValueError(f"{path} has a key {name!r:.60}, which does not exist")
    for name, kind in _KEYS.items():
        if name not in values:
            raise ValueError(f"{path} lacks {name}")
        good = isinstance(values[name], (int, float) if kind is float else kind)
        if not good or isinstance(values[name], bool):
            raise ValueError(f"{path}: {name} must be {_KINDS[kind]}; got {values[name]!r:.60}")
    try:
        base = Plan.from_dict(values["plan"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{path}: plan: {error}") from None
    try:
        return Study(
            **{name: values[name] for name in _KEYS if name not in ("plan", "values")},
            values=tuple(values["values"]),
            base=base,
        )
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _readme(study: Study) -> str:
    values = ", ".join(map(str, study.values))
    return (
        f"# A study: {study.setting} = {values}\n\n"
        f"{len(study.values) * study.seeds} small models of the kind {study.base.model} were "
        f"trained on {study.base.corpus} for {study.base.train.steps} steps, with the seeds "
        f"0 to {study.seeds - 1}. What was measured: {study.measure}.\n\n"
        "All settings, and what was expected before, are in `study.toml`. Each run's folder "
        "holds its `config.json` and its curve, `metrics.jsonl`. `results.csv` has a row for "
        "each run.\n\n"
        "This line trains all of them again, and says whether the numbers are the same:\n\n"
        f"    python -m llmviz study run {FILE}\n\n"
        "On the same machine, with the same versions, they are the same to the last bit. Only "
        f"the speed (`{MEASURED_ANEW[0]}`) differs each time.\n"
    )


def result_of(folder: Path, study: Study, place: int, seed: int) -> Result:
    """Return how one run stands. Raises CheckpointError naming a file that is damaged."""
    run, numbers = folder / run_name(place, seed), dict.fromkeys(NUMBERS, None)
    if not (run / CONFIG).is_file() or not (run / METRICS).is_file():
        return Result(place, seed, WAITS, 0, "", numbers)
    last = last_record(run) or {}
    steps = int(last.get("step") or 0)
    description, wrong = read_description(run), went_wrong(run)
    total = study.base.train.steps
    ended = WRONG if wrong else DONE if steps >= total else GOES
    sha256 = str(description["data"].get("sha256", ""))
    if ended == DONE:
        numbers = _numbers(run, study, description, CurveFile(run).read())
    return Result(place, seed, ended, steps, wrong, numbers, sha256)


def _numbers(
    run: Path, study: Study, description: dict[str, Any], curve: Curve
) -> dict[str, float | None]:
    validation = curve.last_validation
    train = float(curve.train[-max(1, len(curve) // 10) :].mean())
    floor = (description["data"].get(REFERENCES) or {}).get("floor")
    looked = study.measure == "reach"  # else the loss is known at the end alone
    below = curve.validation <= study.target  # NaN is not
    reached = np.flatnonzero(below if looked else [])
    rules = read_json(run / RULES).get("share") if (run / RULES).is_file() else None
    return {
        "validation": validation,
        "train": train,
        "floor": None if floor is None or validation is None else validation - floor,
        "gap": None if validation is None else validation - train,
        "reach": float(curve.steps[reached[0]]) if len(reached) else None,
        "rules": rules,
        "parameters": float(description["parameters"]),
        "pace": float(np.median(curve.rate)),
    }


def results_of(folder: Path, study: Study) -> list[Result]:
    """Return how all runs stand, in the order of the study.

    Raises CheckpointError naming a file that is damaged.
    """
    return [
        result_of(folder, study, place, seed)
        for seed in range(study.seeds)
        for place in range(len(study.values))
    ]


def measured(results: list[Result], study: Study, name: str = "") -> list[dict[int, float]]:
    """Return for each value what was measured, by seed; what was not is left out."""
    found: list[dict[int, float]] = [{} for _ in study.values]
    for run in results:
        value = run.numbers[name or study.measure]
        if value is not None and math.isfinite(value):
            found[run.place][run.seed] = value
    return found


def settle(folder: Path, study: Study, results: list[Result]) -> None:
    """Write results.csv, and into study.toml what the runs say of versions and texts.

    Raises ValueError where they cannot be written.
    """
    from llmviz.training.checkpoints import versions

    text = table_of(study, results)
    texts = {run_name(run.place, run.seed): run.sha256 for run in results if run.sha256}
    with writing(f"the study in {folder}"):
        _write_toml(folder, study, {"versions": versions(), "corpus_sha256": texts})
        write_whole(folder / RESULTS, lambda path: path.write_text(text, encoding="utf-8"))


def table_of(study: Study, results: list[Result]) -> str:
    """Return results.csv: numbers are written so that they come back to the last bit."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for run in results:
        numbers = ["" if (n := run.numbers[name]) is None else repr(n) for name in NUMBERS]
        table.writerow(
            [study.values[run.place], run.seed, run.ended, run.steps, *numbers, run.sha256]
        )
    return out.getvalue()


def differing(before: str, now: str) -> list[tuple[str, str, str, str, str]]:
    """Return what differs between two results.csv: value, seed, column, before and now.

    What is measured anew each time is left out. Raises ValueError for tables of other columns.
    """
    tables = [list(csv.DictReader(io.StringIO(text))) for text in (before, now)]
    if any(tuple(rows[0]) != COLUMNS for rows in tables if rows) or not all(tables):
        raise ValueError(f"{RESULTS} must have the columns {', '.join(COLUMNS)}")
    known = {(row["value"], row["seed"]): row for row in tables[0]}
    found = []
    for row in tables[1]:
        old = known.get((row["value"], row["seed"]), {})
        found += [
            (row["value"], row["seed"], name, old.get(name) or "", row[name] or "")
            for name in COLUMNS
            if name not in MEASURED_ANEW and old.get(name) != row[name]
        ]
    return found


def zipped(folder: Path) -> bytes:
    """Return a folder as a zip: all but weights and checkpoints, which training makes again."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if path.is_file() and "checkpoints" not in name.parts and path.name != MODEL:
                archive.write(path, Path(folder.name) / name)
    return out.getvalue()
