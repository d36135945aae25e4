"""A copy without what a chapter on rewards shows names the command that makes it."""

from __future__ import annotations

import importlib

import pytest

from tests.pages.harness import fine, open_part

MAKES = {
    "chain_of_thought": "think-first",
    "best_of_n": "more-tries",
    "distillation": "distilled",
    "preference": "reward-models",
    "reinforce": "reward-runs",
    "retrieval": "passages",
    "reward_hacking": "gamed-rewards",
    "tools": "tools",
}


@pytest.mark.parametrize("part", MAKES)
def test_a_copy_without_the_record_names_the_command(part, monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    chapter = importlib.import_module(f"llmviz.course.lessons.reasoning.{part}.chapter")
    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("reasoning", part)
    fine(page)
    command = f"python -m experiments make {MAKES[part]}"
    assert any(command in one.value.splitlines() for one in page.code)
