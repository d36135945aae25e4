"""A classifier that is ready for use: one that was trained here, or one of the learner's own."""

from typing import Any, Protocol

import streamlit as st

from llmviz.course.lessons.finetuning.classifier import words
from llmviz.course.ui import engine, kit
from llmviz.finetuning.classifier import Classifier
from llmviz.finetuning.tuned_classes import Classes, load_classes


class Ready(Protocol):
    """What the sentence is read with. tokenizer_of: the model whose tokenizer it has."""

    @property
    def known(self) -> tuple[str, object]:
        """What tells it from all others."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its classes."""

    @property
    def tokenizer_of(self) -> str:
        """The model whose tokenizer it has."""

    def model(self) -> Classifier:
        """The classifier itself."""


class OfFolder:
    """A classifier that `finetune` wrote, by its name `run:NAME`."""

    def __init__(self, name: str) -> None:
        """Raises ValueError: it is gone or damaged."""
        self.tokenizer_of = name
        self.known: tuple[str, Any] = (name, engine.version(name))
        self.names = _loaded(*self.known).names

    def model(self) -> Classifier:
        """The classifier itself."""
        return _loaded(*self.known).model


@kit.kept(4)
def _loaded(name: str, version: str) -> Classes:
    classes = load_classes(engine.folder_of(name))
    classes.model.requires_grad_(False)
    return classes


def choose(state: kit.PageState) -> str:
    """Offer the learner's own classifiers, where there are some; return the one chosen, or ""."""
    wanted = state["classfolder"]
    names = kit.offered(kit.tells_classes, wanted)
    if wanted and wanted not in names:
        kit.warn(words.folder_other.format(name=kit.quote(wanted)), kit.LINK_ICON)
        state["classfolder"] = ""
    if names:
        st.selectbox(
            words.folder,
            ["", *names],
            format_func=lambda name: kit.label(name) if name else words.folder_none,
            width=260,
            **state.bind("classfolder"),
        )
    return str(state["classfolder"])
