"""Which model reads a text in this lesson, and how it reads it: ids, tokens, logits."""

from __future__ import annotations

import dataclasses

import numpy as np

from llmviz.lessons.training import words as words
from llmviz.study.text_loss import target_logits
from llmviz.ui import engine, model_on_text
from llmviz.ui.common import TOO_LONG, readable
from llmviz.ui.engine_ready import engine_ready
from llmviz.ui.kept import kept
from llmviz.ui.model_on_text import Read
from llmviz.ui.model_picker import Picker
from llmviz.ui.notices import inform
from llmviz.ui.selectable_models import card_of, load
from llmviz.ui.state import PageState

LOOKED_AT = 2_000  # characters of a sentence that are read


def choose(state: PageState, picker: Picker, text: str) -> engine.Bundled | None:
    """Show the choice of a model and return it; None after one clear line.

    text: the control of what it reads: an example there gives way to one that fits the model.
    """
    key = picker.key
    picker = dataclasses.replace(picker, first=state.params[key].default)
    name = picker.choose(state, lambda: _fit_example(state, key, text))
    return load(name) if name is not None and engine_ready() else None


def _fit_example(state: PageState, key: str, text: str) -> None:
    own = state.params[text].default
    if state[text] in (own, words.model_name):
        names = (card_of(state[key]) or {}).get("corpus") == "names"
        state[text] = words.model_name if names else own


def read(bundled: engine.Bundled, text: str, limit: int) -> Read | None:
    """Return a text as the model reads it, cut to `limit` targets, saying so; None if it cannot."""
    looked_at = readable(text, LOOKED_AT, words.model_empty, TOO_LONG)
    if looked_at is None:
        return None
    reading = model_on_text.read(looked_at, bundled, limit + 1, last_unread=True)
    if not reading.targets:
        inform(words.model_empty, ":material/edit:")
        return None
    return reading


def logits(reading: Read) -> np.ndarray:
    """Return the logits (T, V) before each target, in float64."""
    return logits_of(reading.bundled, reading.ids)


@kept(128)
def logits_of(bundled: engine.Bundled, ids: tuple[int, ...]) -> np.ndarray:
    """Return a model's logits (T, V) before each of ids (T + 1,) but the first, in float64."""
    return target_logits(bundled.model, ids)
