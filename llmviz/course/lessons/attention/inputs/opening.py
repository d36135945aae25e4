"""Which head of a model is shown first, and why: computed on the lesson's own sentence.

L layers, H heads, V vocabulary.
"""

import math

import numpy as np
import streamlit as st

from llmviz.course.lessons.attention import words as lesson_words
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import words
from llmviz.course.lessons.attention.params import TEXT
from llmviz.course.ui import engine, kit
from llmviz.interpretability import heads_on_text

MOST_HEADS = 64  # heads that are switched off one by one; of more, one forward pass has to do


last_logits = kit.cached(64)(kit.on_model(heads_on_text.last_logits))
worth_of_heads = kit.cached(32)(kit.on_model(heads_on_text.effect_of_heads))


def strength(bundled: engine.Bundled) -> tuple[np.ndarray, str]:
    """Return what the first head is chosen by, (L, H), and the sentence that says so."""
    model = bundled.model
    ids = bundled.tokenizer.encode_from_start(TEXT)[: model.context_length]
    known = (bundled, tuple(ids))
    if model.config.n_layer * model.config.n_head <= MOST_HEADS:
        return worth_of_heads(*known), words.opening_worth
    return real.all_maps(*known).decided, words.opening_decision


def head_of(state: kit.PageState, bundled: engine.Bundled) -> tuple[int, int]:
    """Return the layer and the head in force: the link's, else the strongest that fit it.

    One that does not exist is replaced, saying so.
    """
    config = bundled.model.config
    for key, size in (("layer", config.n_layer), ("head", config.n_head)):
        if state[key] >= 0:
            kit.keep(state, key, range(size))
    layer, head = state["layer"], state["head"]
    if layer >= 0 and head >= 0:
        return layer, head
    values = strength(bundled)[0].copy()
    fits = np.zeros(values.shape, dtype=bool)
    fits[slice(None) if layer < 0 else layer, slice(None) if head < 0 else head] = True
    values[~fits] = -1
    place = np.unravel_index(int(values.argmax()), values.shape)
    return int(place[0]), int(place[1])


def head_menu(
    state: kit.PageState, bundled: engine.Bundled, place: tuple[int, int], *, heads: bool = True
) -> None:
    """Show the choice of a layer, and of a head; `place` are those in force."""
    config = bundled.model.config
    menus = [("layer", words.layer, config.n_layer, place[0])]
    if heads:
        menus.append(("head", words.head, config.n_head, place[1]))
    for key, title, size, value in menus:
        slot = kit.tied(f"_attention.{key}", value, state.taker(key))
        st.selectbox(title, range(size), width=90, **slot)


def choose_head(
    state: kit.PageState, bundled: engine.Bundled, *, heads: bool = True
) -> tuple[int, int]:
    """Show the choice of a layer, and of a head, and return them."""
    place = head_of(state, bundled)
    head_menu(state, bundled, place, heads=heads)
    return place


def read_of(bundled: engine.Bundled) -> str:
    """Return the lesson's own sentence as far as a model's context holds it."""
    ids = bundled.tokenizer.encode_from_start(TEXT)
    if len(ids) <= bundled.model.context_length:
        return TEXT
    opens = len(bundled.tokenizer.start)
    return bundled.tokenizer.decode(ids[opens : bundled.model.context_length])


def why(bundled: engine.Bundled, place: tuple[int, int]) -> str:
    """Return why this head stands here first, or which one would."""
    values, line = strength(bundled)
    best = tuple(int(i) for i in np.unravel_index(int(values.argmax()), values.shape))
    sentence = line.format(
        head=lesson_words.head_name.format(layer=best[0], head=best[1]).capitalize(),
        share=kit.whole_percent(float(values[best])),
        text=kit.quote(read_of(bundled), 60),
    )
    if place == best:
        return sentence
    head = lesson_words.head_name.format(layer=place[0], head=place[1]).capitalize()
    other = words.opening_other.format(head=head, share=kit.whole_percent(float(values[place])))
    return kit.run_on([sentence, other])


def why_model(name: str) -> str:
    """Return why a model is the first one here, measured; nothing for any other."""
    known = {key: loss for key, loss in kit.losses().items() if math.isfinite(loss)}
    if len(known) < 2 or next(iter(known)) != name:
        return ""
    others = ", ".join(f"{kit.label(key)} {loss:.3f}" for key, loss in known.items() if key != name)
    return words.opening_model.format(
        name=kit.label(name), loss=f"{known[name]:.3f}", others=others
    )
