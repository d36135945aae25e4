"""`llmviz study run`: the same numbers to the last bit, and every refusal in one line."""

from __future__ import annotations

import csv
import dataclasses
import json

import pytest

from llmviz.cli import main
from llmviz.course.lessons.discoveries.own.own_study import Study, base_plan
from llmviz.course.lessons.discoveries.own.own_study_folder import FILE, RESULTS, write_study


@pytest.fixture
def study(tmp_path):
    one = Study(
        "n_embd", (4, 8, 12), "validation", 1, "3", "Wide wins.", base_plan("gpt", "names", 20)
    )
    write_study(tmp_path / "mine", one)
    return one


def test_a_study_is_repeated_and_compared_to_the_last_bit(study, tmp_path, capsys):
    mine, out = tmp_path / "mine", tmp_path / "first"
    assert main(["study", "run", str(mine), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.count("validation ") == 3 and said.endswith(f"in {out}\n")
    assert main(["study", "run", str(out / FILE)]) == 0
    assert "all numbers are those in" in capsys.readouterr().out
    # One digit is another one: it is found, with what it was and what it is.
    rows = list(csv.reader((out / RESULTS).read_text("utf-8").splitlines()))
    rows[1][4] += "1"
    (out / RESULTS).write_text("\n".join(map(",".join, rows)) + "\n", "utf-8")
    assert main(["study", "run", str(out / FILE), "--out", str(out / "again"), "--resume"]) == 0
    said = capsys.readouterr().out
    assert f"validation was {rows[1][4]}, is {rows[1][4][:-1]}" in said
    assert "1 number differs from" in said
    assert (
        main(["study", "run", str(out / FILE), "--out", str(out / "again"), "--resume", "--json"])
        == 0
    )
    said = json.loads(capsys.readouterr().out)
    width, value = study.values[0], float(rows[1][4][:-1])
    assert [run["value"] for run in said["runs"]] == list(study.values)
    assert said["runs"][0]["numbers"][said["measure"]] == value
    assert said["differing"] == [
        {
            "value": str(width),
            "seed": "0",
            "name": "validation",
            "was": rows[1][4],
            "is": str(value),
        }
    ]


def test_a_study_that_was_killed_before_it_was_written_begins_anew(study, tmp_path, monkeypatch):
    run = "llmviz.course.lessons.discoveries.own.own_study_run.run_study"
    monkeypatch.setattr(run, lambda study, out, texts: write_study(out, study) or [])
    out = tmp_path / "out"
    out.mkdir()
    (out / f".tmp-0123abcd-{FILE}").write_text("half", "utf-8")
    results = "llmviz.course.lessons.discoveries.own.own_study_folder.results_of"
    monkeypatch.setattr(results, lambda out, study: [])
    assert main(["study", "run", str(tmp_path / "mine"), "--out", str(out)]) == 0
    assert (out / FILE).is_file() and not list(out.glob(".*"))
    (out / f".tmp-0123abcd-{RESULTS}").write_text("half", "utf-8")
    assert main(["study", "run", str(tmp_path / "mine"), "--out", str(out), "--resume"]) == 0
    assert not list(out.glob(".*"))


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        (["study"], "required: run"),
        (["study", "run"], "required: FILE"),
        (["study", "run", "{here}/nothing.toml"], "there is no study"),
        (["study", "run", "{here}/mine", "--out", "{here}/mine"], "already holds files"),
        (["study", "run", "{here}/mine", "--out", "{here}/x", "--resume"], "to resume"),
        (["study", "run", "{here}/mine", "--out", "{here}/other", "--resume"], "another study"),
        (["study", "run", "{here}/mine", "--seeds", "3"], "unrecognized arguments"),
    ],
)
def test_a_wrong_line_is_refused_in_one_line(study, tmp_path, capsys, line, refusal):
    write_study(tmp_path / "other", dataclasses.replace(study, seeds=2))
    given = [part.format(here=tmp_path) for part in line]
    try:
        assert main(given) == 2
    except SystemExit as end:
        assert end.code == 2
    said = capsys.readouterr().err
    assert refusal in said and said.count("\n") == 1


def test_a_damaged_study_is_named_with_its_key(study, tmp_path, capsys):
    path = tmp_path / "mine" / FILE
    path.write_text(path.read_text("utf-8").replace("seeds = 1", "seeds = 0"), "utf-8")
    assert main(["study", "run", str(path)]) == 2
    assert f"{path}: seeds must be a whole number from 1 to 5; got 0" in capsys.readouterr().err
