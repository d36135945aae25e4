"""Chapter "Why": one hidden state against looking back at every token."""

import numpy as np
import streamlit as st

from llmviz.course.figures.attention import Axes, bars
from llmviz.course.figures.history import network_number
from llmviz.course.lessons.attention.names import typed_name
from llmviz.course.lessons.attention.why import translators, words
from llmviz.course.lessons.attention.why.model import letter_influence
from llmviz.course.ui import engine, kit
from llmviz.models.catalogue import able

KEPT = {"rnn": "layers.0.hidden", "gpt": "blocks.0.residual"}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show two translators, then what each letter of a name leaves in what a model keeps."""
    if not translators.draw(state):
        return
    kit.section(words.intro)
    there, told = engine.names(), ""
    if {"names-rnn", "names-gpt"} <= set(there):
        told = _influence(state)
    else:
        missing = ", ".join(name for name in ("names-rnn", "names-gpt") if name not in there)
        st.info(words.gap.format(names=missing), icon=":material/download:")
    if told:
        kit.seen(words.end, told=told)


def _influence(state: kit.PageState) -> str:
    """Draw how much each letter of a name moves what two models keep, and return it in words."""
    kit.text_input(state, "letters", words.name, width=300)
    name = typed_name(state)
    if name is None:
        return ""
    models = ("names-gpt", "names-rnn")
    gpt, rnn = (influence_of(engine.load(model), name) for model in models)
    figure = influence_bars(name, tuple(gpt.tolist()), tuple(rnn.tolist()), kit.theme())
    kit.chart(figure, "attention.why")
    kit.measured(words.influence)
    _code(name, float(rnn[0]))
    shares = {"first": float(rnn[0]), "last": float(rnn[-1]), "least": float(gpt.min())}
    written = {key: f"{share:.0%}" for key, share in shares.items()}
    return words.told.format(name=kit.quote(name), **written)


def _code(name: str, first: float) -> None:
    kit.show_code(
        [letter_influence],
        words.snippet.format(name=name, rnn=KEPT["rnn"]),
        f"{first:.0%}",
    )


@kit.cached(32)
def influence_of(bundled: engine.Bundled, name: str) -> np.ndarray:
    """Return what is left of each letter in the vectors that a model keeps, (letters,).

    These are the last hidden state of a recurrent model, or the vectors of all letters after the
    first layer of a transformer.
    """
    kind = bundled.card["model"]
    last = not able(kind, "attention")
    return letter_influence(bundled.model, bundled.tokenizer, name, KEPT[kind], last=last)


@kit.cached(64)
def influence_bars(
    name: str, gpt: tuple[float, ...], rnn: tuple[float, ...], mode: kit.Mode
) -> kit.Figure:
    """Return both models' influences of the letters as bars."""
    return bars(
        list(name),
        {words.gpt: gpt, words.rnn: rnn},
        Axes(words.letter_axis, words.axis),
        title=words.figure_title,
        roles=(network_number("gpt"), network_number("rnn")),
        mode=mode,
    )
