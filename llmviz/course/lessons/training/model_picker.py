"""Which model reads a text in this lesson, and how it reads it: ids, tokens, logits."""

import dataclasses

import numpy as np

from llmviz.course.lessons.training import words as words
from llmviz.course.ui import engine, kit, model_on_text
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.text_loss import target_logits

LOOKED_AT = 2_000  # characters of a sentence that are read


def choose(state: kit.PageState, picker: kit.Picker, text: str) -> engine.Bundled | None:
    """Show the choice of a model and return it; None after one clear line.

    text: the control of what it reads: an example there gives way to one that fits the model.
    """
    key = picker.key
    picker = dataclasses.replace(picker, first=state.params[key].default)
    name = picker.choose(state, lambda: _fit_example(state, key, text))
    return kit.load(name) if name is not None and engine_ready() else None


def _fit_example(state: kit.PageState, key: str, text: str) -> None:
    own = state.params[text].default
    if state[text] in (own, words.model_name):
        names = (kit.card_of(state[key]) or {}).get("corpus") == "names"
        state[text] = words.model_name if names else own


def read(bundled: engine.Bundled, text: str, limit: int) -> kit.Read | None:
    """Return a text as the model reads it, cut to `limit` targets, saying so; None if it cannot."""
    looked_at = kit.readable(text, LOOKED_AT, words.model_empty, kit.furniture.too_long)
    if looked_at is None:
        return None
    reading = model_on_text.read(looked_at, bundled, limit + 1, last_unread=True)
    if not reading.targets:
        kit.inform(words.model_empty, ":material/edit:")
        return None
    return reading


def logits(reading: kit.Read) -> np.ndarray:
    """Return the logits (T, V) before each target, in float64."""
    return logits_of(reading.bundled, reading.ids)


logits_of = kit.cached(128)(kit.on_model(target_logits))
