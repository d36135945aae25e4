"""Chapter "Three ways": how a model is told where a token stands.

First it measures texts that are longer than any in training.
T positions, C numbers in a vector, D numbers in a query.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components.positions_view.view import (
    PositionsPicture,
    positions_picture,
    positions_view,
)
from llmviz.course.lessons.embeddings.ways import BASES, LENGTHS, LONGER, WIDTHS, model, words
from llmviz.course.lessons.embeddings.ways import input as positions_input
from llmviz.course.ui import engine, kit
from llmviz.course.ui.guess_drawn import words as hand_words
from llmviz.evaluation.longer_texts import TIMES, LossBeyond, long_texts, longer_copy, loss_beyond
from llmviz.nn.positions import Rotary, sinusoidal_positions, sinusoidal_shift, turned

LONGER_KEY = "embeddings.ways.longer"


def draw_longer(losses: dict[str, LossBeyond]) -> None:
    """Say which way changes least, and show how each model was measured."""
    kit.section(words.longer_intro)
    kit.prose(words.longer)
    if (box := kit.fold(words.longer_title, f"{LONGER_KEY}.all", ":material/straighten:")) is None:
        return
    with box:
        _longer_table(losses)
        kit.show_code(
            [long_texts, longer_copy, loss_beyond],
            words.snippet_longer.format(names=tuple(LONGER.values())),
            "\n".join(
                f"{loss.inside:.2f} {loss.beyond:.2f} {loss.far:.2f} {loss.from_last:.2f}"
                for loss in losses.values()
            ),
        )


def _longer_table(losses: dict[str, LossBeyond]) -> None:
    """Show the losses of each kind; all models have one context length."""
    (context,) = {loss.context for loss in losses.values()}
    kit.prose(words.longer_measured, context=context, times=TIMES * context)
    far = {"start": (TIMES - 1) * context, "end": TIMES * context - 1}
    moments = {
        "inside": words.longer_inside.format(start=context // 2, end=context - 1),
        "beyond": words.longer_new.format(start=context, end=context * 3 // 2 - 1),
        "far": words.longer_new.format(**far),
        "from_last": words.longer_last.format(context=context),
    }
    cases = [
        kit.Case(f"{words.longer_names[kind]} · {name}", getattr(loss, moment), role=role)
        for kind, loss in losses.items()
        for (moment, name), role in zip(
            moments.items(), ("residual", "query", "query", "residual"), strict=True
        )
    ]
    most = max(case.value or 0.0 for case in cases)
    axis = kit.Axis(0, 1.05 * most, words.longer_axis)
    kit.case_rows(
        cases, axis, key=f"{LONGER_KEY}.rows", words=hand_words.bars, form="figure", mark="dot"
    )


_measured = kit.cached(len(LONGER))(kit.on_model_and_tokenizer(loss_beyond))


KEY, GUESS = "embeddings.ways", "embeddings.ways.beyond"
ASKED = "sinusoidal"
APART = 0.1  # of the axis, between the answers of the question


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show three models beyond their training, one to guess, then what each is told."""
    losses = {}
    if all(kit.card_of(name) for name in LONGER.values()):
        losses = {kind: _measured(engine.load(name)) for kind, name in LONGER.items()}
    far = {kind: round(math.exp(losses[kind].far)) for kind in words.told_by if losses}
    before = round(math.exp(losses[ASKED].inside)) if losses else 0
    guess = kit.Guess(GUESS, question(far, before) if losses else None)
    kit.prose(words.hook)
    if losses:
        with kit.stage("ways"):
            _beyond(far, before, guess)
        if guess.ask():
            kit.prose(words.third, turned=far["rotary"])
    kit.section(words.intro)
    known = _known(state) if state["placing"] == "learned" else []
    positions = kit.or_refused(_positions, state, known)
    place = None if positions is None else _table(state, positions)
    kit.choose(state, "placing", words.way, words.ways, parts=True)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        _controls(state, known)
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.prose(words.about[state["placing"]])
    if positions is not None and place:
        kit.prose("\n\n".join(lines_of(state, positions, *place)))
    if state["placing"] == "rotary":
        positions_input.turn(state)
    else:
        positions_input.added(state)
    _code(state)
    if losses and guess.open:
        draw_longer(losses)
        kit.seen(words.end, waves=far[ASKED], turned=far["rotary"], before=before)


def question(far: Mapping[str, int], before: int) -> kit.Question | None:
    """Ask how unsure the waves' model is beyond its training; None where two answers are near.

    far: by way, among how many words it chooses there. before: the same in training. The wrong
    answers are of somebody to whom a formula goes on, and to whom new places are random rows.
    """
    reasons = {far[ASKED]: words.ask_right}
    reasons |= {before: words.ask_goes_on, far["learned"]: words.ask_nothing}
    if min(np.diff(sorted(reasons)), default=0.0) < APART * max(reasons) or len(reasons) < 3:
        return None
    if not before < far[ASKED] < far["learned"]:  # as the reasons say
        return None
    right = far[ASKED]
    return kit.Question.among(words.ask, reasons, right, "{:.0f}".format, right=right)


def _beyond(far: Mapping[str, int], before: int, guess: kit.Guess) -> None:
    cases = [
        kit.Case(words.told_by[kind], value if guess.open or kind != "rotary" else None, note=note)
        for kind, value in far.items()
        for note in ("" if guess.open or kind != "rotary" else "?",)
    ]
    axis = kit.Axis(0.0, 1.2 * max(far.values()), words.unsure_axis)
    look: dict[str, Any] = {
        "form": "count",
        "mark": "dot",
        "levels": [(before, words.as_before)],
    }
    veiled = [list(far).index(ASKED)]
    guess.cases(cases, axis, veiled=veiled, picture=f"{KEY}.beyond", **look)


def _positions(state: kit.PageState, known: list[str]) -> Positions | None:
    if state["placing"] == "learned":
        return _learned(engine.load(state["placed"])) if known else None
    return _computed(state["placing"], state["length"], state["width"], float(state["base"]))


# ---- the table


def _known(state: kit.PageState) -> list[str]:
    """The models that have learned a table; the one of the state is then one of them."""
    known = [
        name for name in positions_input.gpts(state["placed"]) if positions_input.has_table(name)
    ]
    if known:
        kit.keep(state, "placed", known)
    return known


def _controls(state: kit.PageState, known: list[str]) -> None:
    if state["placing"] != "learned":
        _stops(words.length, LENGTHS, state, "length")
        _stops(words.widths[state["placing"]], WIDTHS, state, "width")
        _stops(words.base, BASES, state, "base")
    elif known:
        st.selectbox(words.model, known, format_func=kit.label, width=260, **state.bind("placed"))
    else:
        st.info(words.no_table, icon=":material/download:")


class Positions(NamedTuple):
    """A table of positions with its picture, which is computed once."""

    picture: PositionsPicture
    table: model.PositionTable


@kit.cached(8)
def _learned(bundled: engine.Bundled) -> Positions:
    return _with_picture(model.learned_positions(bundled.model))


@kit.cached(64)
def _computed(way: str, t: int, c: int, base: float) -> Positions:
    return _with_picture(model.computed_positions(way, t, c, base))


def _with_picture(table: model.PositionTable) -> Positions:
    return Positions(positions_picture(table.table, table.similarity), table)


def _stops(label: str, stops: tuple[int, ...], state: kit.PageState, key: str) -> None:
    options = sorted({*stops, state[key]})
    st.select_slider(label, options, format_func="{:,}".format, width=200, **state.bind(key))


def _table(state: kit.PageState, positions: Positions) -> tuple[int, int]:
    way = state["placing"]

    def settled() -> None:
        place = st.session_state[KEY].get("place")
        if place:
            state["position"], state["number"] = int(place[0]), int(place[1])

    row, column = positions_view(
        positions.picture,
        key=KEY,
        words=words.view | words.views[way],
        place=(state["position"], state["number"]),
        on_place=settled,
        wave=None if way == "learned" else (way, state["base"]),
    )
    t, c = positions.picture.shape
    return min(row, t - 1), min(column, c - 1)


def lines_of(state: kit.PageState, positions: Positions, row: int, column: int) -> list[str]:
    """Return what there is to say of a cell's column and of how alike the rows are."""
    way, (t, c), lines = state["placing"], positions.picture.shape, []
    if way != "learned":
        pair = column // 2 if way == "sinusoidal" else column % (c // 2)
        lines.append(
            words.wave[way].format(
                column=column,
                length=(wavelength := 2 * np.pi * state["base"] ** (2 * pair / c)),
                times=t / wavelength,
                slowest=2 * np.pi * state["base"] ** ((c - 2) / c),
            )
        )
    return [*lines, alike(way, positions.table, row)] if t >= 4 else lines


def alike(way: str, positions: model.PositionTable, row: int) -> str:
    """Return how alike neighbours and far positions are, and whether that depends on the place.

    positions: at least four.
    """
    similarity, t = positions.similarity, len(positions.similarity)
    far = min(t - 1, t // 2)
    return words.alike[way].format(
        near=kit.signed(np.diagonal(similarity, 1).mean(), 3),
        far=kit.signed(np.diagonal(similarity, far).mean(), 3),
        distance=far,
        spread=_spread(positions.spread),
        row=row,
    )


def _spread(value: float) -> str:
    """Return a difference as written; one that is but the rounding of float32 in words."""
    return words.rounding if value < 1e-5 else f"{value:.3f}"


def _code(state: kit.PageState) -> None:
    c, base = state["width"], state["base"]
    if c % 2 or c < 2:
        return
    bundled = positions_input.with_table(state, tell=False)
    if bundled is None:
        return
    d = min(c, bundled.model.config.n_embd // 2 * 2)
    kit.show_code(
        [sinusoidal_positions, sinusoidal_shift, turned, Rotary],
        words.snippet.format(name=bundled.name, c=c, d=d, base=base),
        partial(_identities, bundled, c, d, base),
    )


_identities = kit.cached(64)(kit.on_model_and_tokenizer(model.position_identities))
