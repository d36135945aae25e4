"""Chapter "Positions": how a model knows where a token stands.

T positions, C numbers in a vector, D numbers in a query.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from llmviz.course.components.positions_view.view import (
    PositionsPicture,
    positions_picture,
    positions_view,
)
from llmviz.course.lessons.embeddings.positions import BASES, LENGTHS, WIDTHS, longer, words
from llmviz.course.lessons.embeddings.positions import input as positions_input
from llmviz.course.lessons.embeddings.positions import shuffle as positions_shuffle
from llmviz.course.lessons.embeddings.positions.model import (
    PositionTable,
    computed_positions,
    learned_positions,
    position_identities,
)
from llmviz.course.ui import engine, kit
from llmviz.course.ui.paint_order import before_controls
from llmviz.nn.positions import Rotary, sinusoidal_positions, sinusoidal_shift, turned

KEY = "embeddings.positions"


STAGED = True


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the same words in another order, then three ways to tell a model where words stand."""
    kit.prose(words.hook)
    ends = positions_shuffle.draw(state)
    kit.section(words.intro)
    _ways(state)
    if ends:
        longer.draw()
        kit.seen(words.end, **ends)


def _ways(state: kit.PageState) -> None:
    """The chosen way: its table, and what is done with it."""
    kit.choose(state, "way", words.way, words.ways, parts=True)
    kit.prose(words.about[state["way"]])
    _one_way(state)
    if state["way"] == "sinusoidal":  # what is added does not depend on the waves above
        positions_input.added(state)


@st.fragment
def _one_way(state: kit.PageState) -> None:
    learned = state["way"] == "learned"
    known = _known(state) if learned else []
    try:
        head = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
        with before_controls(head, lambda: _controls(state, known)):
            if known or not learned:
                _table(state, _positions(state))
        if state["way"] == "rotary":
            positions_input.turn(state)
        elif learned:
            positions_input.added(state)
    except ValueError as error:
        kit.refuse(error)
    _code(state)


def _positions(state: kit.PageState) -> Positions:
    if state["way"] == "learned":
        return _learned(engine.load(state["placed"]))
    return _computed(state["way"], state["length"], state["width"], float(state["base"]))


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
    if state["way"] != "learned":
        _stops(words.length, LENGTHS, state, "length")
        _stops(words.widths[state["way"]], WIDTHS, state, "width")
        _stops(words.base, BASES, state, "base")
    elif known:
        st.selectbox(words.model, known, format_func=kit.label, width=260, **state.bind("placed"))
    else:
        st.info(words.no_table, icon=":material/download:")


class Positions(NamedTuple):
    """A table of positions with its picture, which is computed once."""

    picture: PositionsPicture
    table: PositionTable


@kit.kept(8)
def _learned(bundled: engine.Bundled) -> Positions:
    return _with_picture(learned_positions(bundled.model))


@kit.kept(64)
def _computed(way: str, t: int, c: int, base: float) -> Positions:
    return _with_picture(computed_positions(way, t, c, base))


def _with_picture(table: PositionTable) -> Positions:
    return Positions(positions_picture(table.table, table.similarity), table)


def _stops(label: str, stops: tuple[int, ...], state: kit.PageState, key: str) -> None:
    options = sorted({*stops, state[key]})
    st.select_slider(label, options, format_func="{:,}".format, width=200, **state.bind(key))


def _table(state: kit.PageState, positions: Positions) -> None:
    way = state["way"]

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
    row, column = min(row, t - 1), min(column, c - 1)
    lines = []
    if way != "learned":
        pair = column // 2 if way == "sinusoidal" else column % (c // 2)
        wavelength = 2 * np.pi * state["base"] ** (2 * pair / c)
        lines.append(
            words.wave[way].format(
                column=column,
                length=wavelength,
                times=t / wavelength,
                slowest=2 * np.pi * state["base"] ** ((c - 2) / c),
            )
        )
    if t >= 4:
        lines.append(alike(way, positions.table, row))
    if lines:
        kit.prose("\n\n".join(lines))


def alike(way: str, positions: PositionTable, row: int) -> str:
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
    """Return a difference as written; one below the precision of float32 in words."""
    return words.a_millionth if value < 1e-6 else f"{value:.3f}"


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


_identities = kit.kept(64)(kit.on_model_and_tokenizer(position_identities))
