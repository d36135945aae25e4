"""The layer that a chapter looks into: of three words small enough to read, or of a model.

T tokens, C width.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from llmviz.course.lessons.transformer import words as words
from llmviz.course.ui import engine, kit
from llmviz.interpretability.block import Steps, all_blocks, require_block
from llmviz.models import three_words
from llmviz.models.gpt import GPT
from llmviz.models.settings import GPTConfig

DRAWN = 18  # tokens that have a row
SMALL = "three words"
# Models with other parts than the bundled ones have: norms behind, RMSNorm, rotary, SwiGLU.
ALSO = [f"since-2017/{name}" for name in ("post-norm", "rms-norm", "rotary", "swiglu")]


@dataclass(frozen=True)
class Subject:
    """A text of T tokens and the layer that is looked into.

    `version` tells one state of the model's weights from another.
    """

    name: str
    version: str
    model: GPT
    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    layer: int

    @property
    def in_model(self) -> tuple[str, str, int]:
        """What tells the layer from all others."""
        return self.name, self.version, self.layer

    @property
    def text(self) -> tuple[str, str, tuple[int, ...]]:
        """What tells the text in this model from all others."""
        return self.name, self.version, self.ids

    @property
    def kept_as(self) -> tuple[str, str, tuple[int, ...], int]:
        """What tells both from all others; see `kept`."""
        return *self.text, self.layer

    @property
    def steps(self) -> Steps:
        """What the layer computes: see `all_blocks`."""
        return blocks_of(self)[self.layer]

    def at(self, layer: int) -> Subject:
        """The same text in another layer."""
        return replace(self, layer=layer)

    def opening(self, imports: str) -> str:
        """The lines with which a snippet gets the model, behind its other imports."""
        lines = words.open_small if self.name == SMALL else words.open_model
        return lines.format(imports=imports, name=self.name) + "\n"


small_model = kit.kept(1)(three_words.three_words)


@kit.kept(32, key=lambda subject: subject.text)
def blocks_of(subject: Subject) -> list[Steps]:
    """Return what every layer of a model computes on a text."""
    return all_blocks(subject.model, subject.ids)


def choose_subject(
    state: kit.PageState, more: Callable[[GPTConfig], None] | None = None
) -> Subject | None:
    """Show what can be looked into and return it; None, saying why, where it cannot be opened.

    more: shows further controls in the same row, for a model with these settings.
    """
    whole, name, model = state["of"] == "model", None, small_model()
    if whole:
        kit.text_box(state, height=80)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.choose(state, "of", words.subject_of, words.subject_subjects)
        if whole:
            name = kit.Picker(also=ALSO).choose(state)
            model = _openable(name)
        layers = 0 if model is None else model.config.n_layer
        if layers > 1:
            st.number_input(
                words.subject_layer, width=120, **state.ranged("layer", most=layers - 1)
            )
        if more is not None and model is not None:
            more(model.config)
    if not whole:
        kit.prose(words.subject_small)
        ids = tuple(range(len(three_words.TOKENS)))
        return Subject(SMALL, "", model, ids, three_words.TOKENS, 0)
    model_and_text = kit.load_and_read(state, name, DRAWN, require_block)
    if model_and_text is None:
        if name is not None and not layers:
            kit.inform(words.subject_cannot, ":material/info:")
        return None
    bundled, read = model_and_text
    layer = min(state["layer"], layers - 1)
    return Subject(*bundled.kept_as, bundled.model, read.ids, read.tokens, layer)


def _openable(name: str | None) -> GPT | None:
    """The model of a name; None where it cannot be opened, which is said elsewhere."""
    try:
        return require_block(engine.load(name).model) if name else None
    except ValueError:
        return None
