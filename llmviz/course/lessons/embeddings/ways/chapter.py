"""Chapter "Three ways": how a model is told where a token stands.

The last part measures texts that are longer than any in training.
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
from llmviz.course.lessons.embeddings.ways import BASES, LENGTHS, LONGER, WIDTHS, model, words
from llmviz.course.lessons.embeddings.ways import input as positions_input
from llmviz.course.ui import engine, kit
from llmviz.course.ui.guess import words as hand_words
from llmviz.evaluation.longer_texts import TIMES, LossBeyond, long_texts, longer_copy, loss_beyond
from llmviz.nn.positions import Rotary, sinusoidal_positions, sinusoidal_shift, turned

LONGER_KEY = "embeddings.ways.longer"


def draw_longer() -> None:
    """Say what each kind of positions has after training's places, and measure a model of each."""
    kit.section(words.longer_intro)
    kit.prose(words.longer_kinds)
    if any(kit.card_of(name) is None for name in LONGER.values()):
        return
    losses = {kind: _measured(engine.load(name)) for kind, name in LONGER.items()}
    _longer_table(losses)
    kit.prose(what_longer_does(losses))
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


_measured = kit.kept(len(LONGER))(kit.on_model_and_tokenizer(loss_beyond))


def what_longer_does(losses: dict[str, LossBeyond]) -> str:
    """Return what the losses say: one line for each kind, then which of those alike changes least.

    losses: by kind of positions; "none" is a model that was trained in another way.
    """
    lines = [
        words.longer_change.format(
            name=words.longer_names[kind].capitalize(),
            inside=loss.inside,
            beyond=loss.beyond,
            far=loss.far,
        )
        for kind, loss in losses.items()
    ]
    changes = {kind: abs(loss.far - loss.inside) for kind, loss in losses.items() if kind != "none"}
    least = min(changes, key=changes.__getitem__)
    return " ".join(
        [*lines, words.longer_least.format(name=words.longer_names[least], rise=changes[least])]
    )


KEY, GUESS = "embeddings.ways", "embeddings.ways.apart"
APART = 0.08  # between the answers of the question
RANGE = (-1.0, 1.0)  # of a cosine, and of a score of two rows of length 1


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the table of a way, how alike its places are, and what is done with its rows."""
    kit.prose(words.hook)
    known = _known(state) if state["placing"] == "learned" else []
    with kit.stage("ways", stays=False):
        positions = kit.or_refused(_positions, state, known)
        place = None if positions is None else _table(state, positions)
        kit.choose(state, "placing", words.way, words.ways, parts=True)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            _controls(state, known)
    guess = kit.Guess(
        GUESS, None if positions is None else question(state["placing"], positions.table)
    )
    told = guess.open
    if positions is not None and guess.question is not None:
        _pairs(state["placing"], positions.table, guess)
        guess.ask()
    kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    kit.prose(words.about[state["placing"]])
    if positions is not None and place and told:
        kit.prose("\n\n".join(lines_of(state, positions, *place)))
    if state["placing"] == "rotary":
        positions_input.turn(state)
    else:
        positions_input.added(state)
    _code(state)
    if positions is not None and told:
        draw_longer()
        kit.seen(words.end, alike=alike(state["placing"], positions.table, 0).partition(". ")[0])


def _positions(state: kit.PageState, known: list[str]) -> Positions | None:
    if state["placing"] == "learned":
        return _learned(engine.load(state["placed"])) if known else None
    return _computed(state["placing"], state["length"], state["width"], float(state["base"]))


def pairs_asked(t: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return two pairs of T places, as far apart, an early one and a late one; None for few."""
    distance, start = t // 8, t // 8
    late = t - 1 - distance
    return ((start, start + distance), (late, late + distance)) if distance else None


def question(way: str, table: model.PositionTable) -> kit.Question | None:
    """Return the question how alike two late places are, once two early ones were shown.

    The wrong answers are of somebody to whom later places are fainter, and of one to whom places
    far from the start have nothing in common. None where two answers are nearly the same.
    """
    pairs = pairs_asked(len(table.similarity))
    if pairs is None:
        return None
    first, right = (float(table.similarity[pair]) for pair in pairs)
    fainter = first * (pairs[0][1] + 1) / (pairs[1][1] + 1)
    reasons = {right: words.ask_apart_right[way]}
    for value, why in ((fainter, words.ask_apart_fainter), (0.0, words.ask_apart_nothing)):
        if all(abs(value - other) >= APART for other in reasons):
            reasons[value] = why
    if len(reasons) < 2:
        return None
    named = {
        name: words.two_places.format(a=a, b=b)
        for name, (a, b) in zip(("early", "late"), pairs, strict=True)
    }
    return kit.Question.among(
        words.ask_apart,
        reasons,
        right,
        lambda value: kit.signed(value, 2),
        first=kit.signed(first, 2),
        right=kit.signed(right, 2),
        **named,
    )


def _pairs(way: str, table: model.PositionTable, guess: kit.Guess) -> None:
    """Draw how alike the early places are, and the late ones once they were guessed."""
    pairs = pairs_asked(len(table.similarity)) or ()
    cases = [
        kit.Case(words.two_places.format(a=a, b=b), float(table.similarity[a, b])) for a, b in pairs
    ]
    axis = kit.Axis(*RANGE, words.measure[way])
    guess.cases(cases, axis, veiled=[1], picture=f"{KEY}.pairs", form="figure", mark="dot")


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


@kit.kept(8)
def _learned(bundled: engine.Bundled) -> Positions:
    return _with_picture(model.learned_positions(bundled.model))


@kit.kept(64)
def _computed(way: str, t: int, c: int, base: float) -> Positions:
    return _with_picture(model.computed_positions(way, t, c, base))


def _with_picture(table: model.PositionTable) -> Positions:
    return Positions(positions_picture(table.table, table.similarity), table)


def _stops(label: str, stops: tuple[int, ...], state: kit.PageState, key: str) -> None:
    options = sorted({*stops, state[key]})
    st.select_slider(label, options, format_func="{:,}".format, width=200, **state.bind(key))


def _table(state: kit.PageState, positions: Positions) -> tuple[int, int]:
    """Draw the table; return the row and the column that are looked at."""
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


_identities = kit.kept(64)(kit.on_model_and_tokenizer(model.position_identities))
