"""What tests of pages with a model share: one small model, bundled for a while."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from llmviz import pretrained
from llmviz.course.ui import engine, guess_given
from tests.pages.small_model import make_checkpoint

# What is kept of the bundled models for as long as a process runs: in an app they stay the same.
KEPT = {
    "reasoning.conversation.chat_model": ("tokenizer", "template", "bundled"),
    "reasoning.conversation.chat_prompts": ("template_of",),
    "reasoning.distillation.distilling": ("teacher",),
    "reasoning.preference.preference_model": ("both_models",),
    "reasoning.preference.reward_search": ("known_words",),
}


def forget() -> None:
    """Drop what is kept of the bundled models."""
    for module, names in KEPT.items():
        loaded = sys.modules.get(f"llmviz.course.lessons.{module}")
        for name in names if loaded else ():
            getattr(loaded, name).cache_clear()


def use(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the app find its checkpoints in a folder."""
    forget()
    monkeypatch.setattr(engine, "CHECKPOINTS", folder)
    monkeypatch.setattr(pretrained, "CHECKPOINTS", folder)


@pytest.fixture
def covers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions cover what would give their answers away, as they do for visitors."""
    monkeypatch.setattr(guess_given, "COVERS", True)


def load_torch() -> None:
    """Load torch as the app does, and wait for it."""
    engine.start()
    assert engine.wait(120)


@pytest.fixture(scope="module")
def ready() -> None:
    """No page of the file is the first with torch: it would compute what others did without."""
    load_torch()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder of checkpoints with one small model; to be read only."""
    target = tmp_path_factory.mktemp("checkpoints")
    make_checkpoint(target)
    return target


@pytest.fixture
def bundle(folder, monkeypatch):
    """The small model is what is bundled, and torch has been loaded."""
    use(monkeypatch, folder)
    load_torch()
    yield engine.load("tiny-world-gpt")
    forget()
