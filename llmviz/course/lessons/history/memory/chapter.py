"""Chapter "One test for all": which letter came first, asked of every model at every distance."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from llmviz.course.document.marks import as_markdown
from llmviz.course.figures.lines import Line, lines
from llmviz.course.figures.networks import is_dashed, network_number
from llmviz.course.lessons.history.memory import own_string, words
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.course.ui.rerun import once
from llmviz.training import first_letter
from llmviz.training.first_letter import CHANCE, FARTHEST, LENGTH, OPTIONS, TRAINING

KEY = "history.memory"
ASKED = "rnn"  # whose reach the question is about
TABLE_AT = (7, 31, 60)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    text = words.text.format(
        chance=kit.percent(CHANCE),
        models=len(OPTIONS),
        steps=TRAINING.steps,
        rows=TRAINING.batch_size,
        length=LENGTH,
        farthest=FARTHEST,
    )
    kit.section(words.intro.title, text)
    known = kit.or_refused(cards)
    if known is None:
        return
    if not known:
        st.info(words.none, icon=":material/download:")
        st.code(words.command, language=None)
        return
    missing = [words.models[name] for name in OPTIONS if name not in known]
    if missing:
        line = words.missing.format(names=", ".join(missing), command=words.command)
        st.info(as_markdown(line), icon=":material/download:")
    shown = ASKED not in known or kit.predict(
        question(known[ASKED]["right"]), f"{KEY}.ask", covers=True
    )
    if shown:
        _measured(known)
    if engine_ready():
        own_string.draw(state, list(known))
    if shown:
        shares = ", ".join(
            f"{words.models[name]} {kit.percent(float(np.mean(card['right'])))}"
            for name, card in known.items()
        )
        kit.seen(words.end, farthest=FARTHEST, shares=shares)


def _measured(known: dict[str, dict[str, Any]]) -> None:
    questions = max(card["asked"] for card in known.values())
    kit.section(words.chart, asked=questions)
    curves = tuple((name, tuple(card["right"])) for name, card in known.items())
    kit.chart(chart(curves, kit.theme()), f"{KEY}.chart")
    alike = together(known)
    if len(alike) > 1:
        st.caption(words.together.format(names=kit.listed(alike)))
    _table(known)
    kit.section(words.why, models=len(known))
    kit.prose("\n\n".join(reasons(known)))
    kit.show_code(
        [first_letter.FirstLetterData, first_letter.shares_right, first_letter.make],
        words.snippet.format(known=list(known)),
        "\n".join(
            f"{name} {first_letter.reach(card['right'])} {card['right'][-1]:.4f}"
            for name, card in known.items()
        ),
    )


@once
def cards() -> dict[str, dict[str, Any]]:
    """Return the cards of the models that are in this copy, by name, in the order of OPTIONS.

    Raises ValueError: one of them is damaged.
    """
    return {name: first_letter.read_card(name) for name in first_letter.there()}


@kit.kept(4)
def chart(curves: tuple[tuple[str, tuple[float, ...]], ...], mode: kit.Mode) -> kit.Figure:
    """Return each model's share of right answers by distance."""
    order = list(words.models)
    drawn = [
        Line(
            words.models[name],
            np.arange(1, LENGTH),
            100 * np.array(right),
            network_number(name),
            # The last one, too, so that a line below it is seen between the dashes.
            dashed=name == order[-1] or is_dashed(name),
            marked=False,
        )
        for name, right in curves
    ]
    level = (100 * CHANCE, words.chance)
    figure = lines(drawn, words.axes, mode, level=level, hover=words.hover)
    return figure.update_yaxes(range=[0, 104])


def together(known: dict[str, dict[str, Any]]) -> list[str]:
    """Return the models whose lines cannot be told from that of the last one, by name.

    Each is within half a point of it everywhere, so that any two are within one.
    """
    last = np.array(list(known.values())[-1]["right"])
    return [
        words.models[name]
        for name, card in known.items()
        if np.abs(last - card["right"]).max() < 0.005
    ]


def _table(known: dict[str, dict[str, Any]]) -> None:
    rows = [
        [
            words.models[name],
            f"{card['parameters']:,}",
            card["seconds"],
            *(100 * card["right"][n - 1] for n in TABLE_AT),
        ]
        for name, card in known.items()
    ]
    column = st.column_config.NumberColumn(format="%.1f")
    formats = {name: column for name in words.table[2:]}
    formats[words.table[1]] = st.column_config.TextColumn(alignment="right")
    frame = pd.DataFrame(rows, columns=list(words.table))
    st.dataframe(frame, hide_index=True, column_config=formats)


def reasons(known: dict[str, dict[str, Any]]) -> list[str]:
    """Return for each model its idea, what was measured of it, and how it is to the one before."""
    lines, before = [], None
    for name, card in known.items():
        config, mean = card["model"]["config"], round(100 * float(np.mean(card["right"])), 1)
        window = config.get("window") or 2 ** config.get("n_layer", 0)
        reads = {"window": window, "covered": window - 1, "farthest": FARTHEST}
        text = f"{kit.bold(words.models[name] + '.')} {words.ideas[name].format(**reads)} "
        text += measured(card["right"], card["asked"])
        if before is not None:
            other, least = before
            step = "same" if mean == least else "more" if mean > least else "less"
            text += words.after[step].format(n=abs(mean - least), other=words.models[other])
        lines.append(text)
        before = name, mean
    return lines


def measured(right: list[float], questions: int) -> str:
    """Say how far a model remembers."""
    return words.measured.format(
        mean=f"{100 * float(np.mean(right)):.1f}\u00a0%",
        far=_distance(first_letter.reach(right)),
        beyond=_distance(first_letter.beyond_luck(right, questions)),
    )


def _distance(reach: int) -> str:
    if reach == FARTHEST:
        return words.everywhere
    return words.up_to.format(letters=_more(reach)) if reach else words.nowhere


def _more(letters: int) -> str:
    return kit.count(letters, words.more_letter)


def question(right: list[float]) -> kit.Question:
    """Ask how far the RNN remembers."""
    reach = first_letter.reach(right)
    correct = int(np.searchsorted([8, 31, FARTHEST], reach, side="right"))
    reason = words.ask_reason.format(letters=_more(reach)) if reach else words.ask_never
    return kit.Question.rated(words.ask, words.ask_answers, correct, reason, length=LENGTH)
