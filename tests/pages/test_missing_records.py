"""Chapters that show recorded trainings say what makes their record, where it is not here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llmviz.course.lessons.discoveries import features_record
from llmviz.course.lessons.discoveries.features import chapter as features
from llmviz.course.lessons.discoveries.grokking import grokking_record
from llmviz.course.lessons.discoveries.induction import chapter as induction
from llmviz.course.lessons.discoveries.induction import induction_record
from llmviz.course.lessons.discoveries.steering import model as steering
from llmviz.course.lessons.discoveries.superposition import chapter as superposition
from llmviz.course.lessons.discoveries.superposition import model as superposition_record
from tests.pages.harness import boxes, fine_part

RECORDS = [
    ("superposition", superposition, "film", superposition_record.COMMAND),
    ("features", features, "scores", features_record.COMMAND),
    ("grokking", grokking_record, "card", grokking_record.COMMAND),
    ("induction", induction, "card", induction_record.COMMAND),
    ("steering", steering, "recorded", steering.COMMAND),
]


@pytest.mark.parametrize(
    ("part", "module", "name", "command"), RECORDS, ids=[record[0] for record in RECORDS]
)
def test_a_copy_without_the_record_names_the_command(monkeypatch, part, module, name, command):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(module, name, missing)
    app = fine_part("discoveries", part)
    assert any(command in block.value for block in app.code)


@pytest.mark.parametrize(
    ("part", "module", "name", "record"),
    [
        ("features", features, "scores", features_record.scores),
        ("steering", steering, "recorded", steering.recorded),
    ],
    ids=["features", "steering"],
)
def test_a_copy_with_another_story_model_says_so(monkeypatch, part, module, name, record):
    other = replace(record(), weights="another")
    monkeypatch.setattr(module, name, lambda: other)
    assert "other weights" in boxes(fine_part("discoveries", part))
