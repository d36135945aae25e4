"""Chapter "Why": one hidden state against looking back at every token."""

import numpy as np
import streamlit as st

from llmviz.course.figures.attention import Axes, bars
from llmviz.course.figures.networks import network_number
from llmviz.course.lessons.attention.names import typed_name
from llmviz.course.lessons.attention.why import translators, words
from llmviz.course.lessons.attention.why.model import letter_influence
from llmviz.course.ui import engine, kit
from llmviz.models.catalogue import able

ASK = "attention.why.ask"
KEPT = {"rnn": "layers.0.hidden", "gpt": "blocks.0.residual"}
APART = 0.02  # a wrong answer nearer to the right one is not offered
COMPARED = ("names-rnn", "names-gru", "names-lstm", "names-gpt")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    ends: dict[str, str] | None = None
    there = engine.names()
    if {"names-rnn", "names-gpt"} <= set(there):
        ends = _influence(state)
    else:
        missing = ", ".join(name for name in ("names-rnn", "names-gpt") if name not in there)
        st.info(words.gap.format(names=missing), icon=":material/download:")
    _losses([name for name in COMPARED if name in there])
    translators.draw(state)
    if ends:
        kit.seen(words.end, **ends)


def _influence(state: kit.PageState) -> dict[str, str] | None:
    """Draw how much each letter of a name moves what two models keep.

    Returns what the end says of it; None while a question covers it, or for no name.
    """
    kit.text_input(state, "letters", words.name, width=300)
    name = typed_name(state)
    if name is None:
        return None
    models = ("names-gpt", "names-rnn")
    gpt, rnn = (influence_of(engine.load(model), name) for model in models)
    quiz = question(rnn)
    covered = quiz is not None and not kit.answered(quiz, ASK)
    figure = influence_bars(name, tuple(gpt.tolist()), tuple(rnn.tolist()), covered, kit.theme())
    kit.chart(figure, "attention.why")
    st.caption(" ".join([words.influence, words.covered if covered else ""]))
    if quiz is not None:
        kit.predict(quiz, ASK, covers=True)
    if not covered:
        kit.prose(
            words.read,
            count=len(name),
            rnn_first=float(rnn[0]),
            rnn_last=float(rnn[-1]),
            gpt_least=float(gpt.min()),
        )
    _code(name, float(rnn[0]))
    shares = {"first": float(rnn[0]), "last": float(rnn[-1]), "least": float(gpt.min())}
    written = {key: f"{share:.0%}" for key, share in shares.items()}
    return None if covered else {"name": kit.quote(name), **written}


def question(rnn: np.ndarray) -> kit.Question | None:
    """Return the question what is left of the first letter; None where answers would be alike.

    rnn: (letters,), as `influence_of` returns it.
    """
    first, last, count = float(rnn[0]), float(rnn[-1]), len(rnn)
    offered = (
        (last / count, words.ask_even),
        (last / 2, words.ask_half),
        (last, words.ask_alike),
    )
    reasons = {f"{share:.0%}": reason for share, reason in offered if abs(share - first) >= APART}
    reasons[f"{first:.0%}"] = words.ask_right if first < last else words.ask_more
    if len(reasons) < 3:
        return None
    filled = {share: reason.format(share=share, count=count) for share, reason in reasons.items()}
    return kit.Question.among(words.ask, filled, f"{first:.0%}", last=f"{last:.0%}", count=count)


def _code(name: str, first: float) -> None:
    kit.show_code(
        [letter_influence],
        words.snippet.format(name=name, rnn=KEPT["rnn"]),
        f"{first:.0%}",
    )


@kit.kept(32)
def influence_of(bundled: engine.Bundled, name: str) -> np.ndarray:
    """Return what is left of each letter in the vectors that a model keeps, (letters,).

    These are the last hidden state of a recurrent model, or the vectors of all letters after the
    first layer of a transformer.
    """
    kind = bundled.card["model"]
    last = not able(kind, "attention")
    return letter_influence(bundled.model, bundled.tokenizer, name, KEPT[kind], last=last)


@kit.kept(64)
def influence_bars(
    name: str, gpt: tuple[float, ...], rnn: tuple[float, ...], covered: bool, mode: kit.Mode
) -> kit.Figure:
    """Return both models' influences of the letters as bars; `covered`: the asked ones left out."""
    drawn = (*[np.nan] * (len(rnn) - 1), rnn[-1]) if covered else rnn
    return bars(
        list(name),
        {words.gpt: gpt, words.rnn: drawn},
        Axes(words.letter_axis, words.axis),
        title=words.figure_title,
        roles=(network_number("gpt"), network_number("rnn")),
        mode=mode,
    )


def _losses(names: list[str]) -> None:
    if len(names) < 2:
        return
    kit.prose(words.table)
    rows = []
    for name in names:
        card = engine.card(name)
        rows.append([name, card["parameters"], card.get("validation_loss")])
    number = st.column_config.NumberColumn(format="%.3f")
    config = {words.columns["loss"]: number}
    kit.rows_table(rows, words.columns.values(), width=520, column_config=config)
