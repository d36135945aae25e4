"""Bundled records: each has its maker, and a test that makes a part again or counts it whole."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from experiments import __main__ as experiments
from experiments import passage_recall
from experiments._command import write_to
from llmviz.course.lessons.reasoning.retrieval.passage_ranking import STORY, TABLES, recorded
from llmviz.files.paths import DATA, EXPERIMENT_FOLDER
from llmviz.interpretability.vector_tables import load_table

ROOT = experiments.ROOT


@pytest.mark.parametrize("name", experiments.RECORDS)
def test_each_record_has_a_maker_a_reader_and_a_check_that_are_there(name):
    assert experiments.module(name) in {
        f"experiments.{path.stem}" for path in (ROOT / "experiments").glob("*.py")
    }
    for check in experiments.RECORDS[name]["check"].split():
        file, _, test = check.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text("utf-8")
    reads = (ROOT / experiments.RECORDS[name]["read_by"]).read_text("utf-8")
    assert re.search(rf"experiments make {name}\b|COMMAND|TOKENIZER_FOLDER|\"{name}\"", reads)


def test_no_maker_is_left_out():
    makers = {path.stem for path in (ROOT / "experiments").glob("*.py") if path.stem[0] != "_"}
    assert {name.replace("-", "_") for name in experiments.RECORDS} == makers


@pytest.mark.parametrize(("name", "count"), [("tools", 1), ("memory", 3)])
def test_a_check_runs_the_records_own_tests(monkeypatch, name, count):
    ran: list[list[str]] = []
    monkeypatch.setattr(subprocess, "call", lambda line, cwd: ran.append(line) or 3)
    assert experiments.main(["make", name, "--check"]) == 3
    assert ran[0][-count:] == sorted(experiments.RECORDS[name]["check"].split())
    assert ran[0][-count - 2 : -count] == ["-m", ""], "checks of the second tier are left out"


def test_passages_of_the_bundled_story_are_found_as_often_as_recorded():
    tables = {way: load_table(name) for way, name in TABLES.items()}
    text = (DATA / "story.txt").read_text("utf-8")
    found = passage_recall.measure(text, passage_recall.QUESTIONS, tables, STORY)
    assert [found] == recorded()[STORY]


@pytest.mark.parametrize(
    ("typed", "folder"), [([], EXPERIMENT_FOLDER), (["--to", "a/b"], Path("a/b"))]
)
def test_a_record_is_made_in_the_folder_that_is_typed_or_in_its_own(typed, folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["record", *typed])
    made = []
    write_to(made.append, "Make it again.")
    assert made == [folder]


def test_a_wrong_argument_ends_with_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["record", "--two"])
    with pytest.raises(SystemExit):
        write_to(print, "Make it again.")
    assert "--two" in capsys.readouterr().err
