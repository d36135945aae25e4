"""Chapter "RNN, GRU, LSTM": one list of numbers, rewritten at each letter, and what it keeps.

T letters, the start token among them; H units.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.recurrent import gradient, words
from llmviz.course.lessons.history.recurrent.name_read import KEY, rows_of, states
from llmviz.course.lessons.history.recurrent.recurrent_states import before
from llmviz.course.lessons.history.recurrent.unit_roles import LATER, UnitRoles, find_roles
from llmviz.course.ui import engine, kit
from llmviz.evaluation.invented_names import names_learned_from

if TYPE_CHECKING:
    from torch import Tensor

GUESS = "history.recurrent.kept"
MODELS = {cell: f"names-{cell}" for cell in words.cells}
EVERY = 3  # of the names that the models learned from, one in so many
APART = 0.08  # of all cases, on average, between the answers of the question
CLEAR = 0.1  # a difference between two shares that is more than luck


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the state over a name, what is left in it of the first letter, and how it is made."""
    cell = state["cell"]
    kit.prose(words.hook)
    if not kit.models_here(*MODELS.values()):
        return
    found = {cell: roles(engine.load(model)) for cell, model in MODELS.items()}
    guess = kit.Guess(GUESS, question(found))
    with kit.stage("recurrent"):
        _bars(found, guess)
        asked = not guess.ask()
        picture = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.choose(state, "cell", words.cell, words.cells)
            name = typed_name.ask(state)
        bundled = typed_name.load(MODELS[cell]) if name else None
        if bundled is not None:
            with picture:
                _grid(bundled, name)
    if asked or bundled is None:
        return
    _told(found)
    kit.looks(state, words.looks, f"{KEY}.looks")
    parts: dict[str, Callable[..., None]] = {"state": _gates, "past": gradient.draw}
    kit.draw_part(
        state,
        "recurrent",
        words.look,
        words.parts,
        {key: partial(drawn, bundled=bundled, name=name) for key, drawn in parts.items()},
    )
    kit.seen(
        words.end,
        model=words.cells[cell],
        units=bundled.model.layers[0].hidden_size,
        name=kit.quote(name),
        times=kit.count(len(name) + 1, "time"),
        cell=words.end_cell[part_of(bundled.model) == "cell"],
        **summary(found),
    )


def _gates(state: kit.PageState, bundled: engine.Bundled, name: str) -> None:
    from llmviz.course.lessons.history.recurrent import gates  # with torch, which has come by now

    gates.draw(state, bundled, name)


# ---- the state


def _grid(bundled: engine.Bundled, name: str) -> None:
    hidden = states(bundled, name).parts["hidden"]
    rows = rows_of(bundled, name)
    units = [str(unit) for unit in range(hidden.shape[1])]
    drawn = lv.Matrix(
        "list",
        hidden.numpy(),
        words.grid,
        role="value",
        limit=1.0,
        row_labels=rows,
        col_labels=units,
        row_axis=words.row,
        col_axis=words.column,
    )
    lv.matrix_view([drawn], layout=[["list"]], key=f"{KEY}.list", stacked=True)
    kit.prose(report(name, moves(hidden).tolist()[1:]))


def moves(hidden: Tensor) -> np.ndarray:
    """Return how far each letter moves the state (T, H): the distance to the state before, (T,)."""
    return (hidden - before(hidden)).double().norm(dim=1).numpy()


def report(name: str, moved: list[float]) -> str:
    """Say where the state changes most and least; moved: for each letter, without the start."""
    most, least = int(np.argmax(moved)), int(np.argmin(moved))
    if most == least:
        return words.moved_one.format(far=moved[0])
    places = [
        words.place.format(n=at + 1, letter=kit.quote(letter)) for at, letter in enumerate(name)
    ]
    return words.moved.format(
        most=places[most], far=moved[most], least=places[least], near=moved[least]
    )


# ---- what is left of the first letter


def part_of(model: Any) -> str:
    """Return which tensor of a recurrent model is its memory: the cell, where it has one."""
    return "cell" if model.layers[0].n_state > 1 else "hidden"


@kit.cached(8)
def roles(bundled: engine.Bundled) -> UnitRoles:
    """Return what units of a bundled model hold of the first letter, and which unit counts."""
    names = names_learned_from()[::EVERY]
    return find_roles(bundled.model, bundled.tokenizer, names, part_of(bundled.model))


def summary(found: dict[str, UnitRoles]) -> dict[str, str]:
    """Return how often the first letter is read from each model's state, and is the usual one."""
    shares = {cell: kit.percent(of.together) for cell, of in found.items()}
    return shares | {"usual": kit.percent(max(of.usual for of in found.values()))}


def _bars(found: dict[str, UnitRoles], guess: kit.Guess) -> None:
    """Draw how often the first letter can be read later on."""
    usual = next(iter(found.values())).usual
    cases = [kit.Case(words.usual, usual, role="residual")]
    cases += [
        kit.Case(words.read_from.format(model=words.cells[cell]), of.together)
        for cell, of in found.items()
    ]
    guess.cases(
        cases,
        kit.Axis(0, 1, words.kept_axis),
        veiled=range(1, len(cases)),
        picture=f"{KEY}.kept",
    )


def _told(found: dict[str, UnitRoles]) -> None:
    first = next(iter(MODELS))
    kit.prose(verdicts(found))
    correlations = kit.listed([kit.signed(of.correlation) for of in found.values()])
    kit.measured(words.reader, names=found[first].names, correlations=correlations)
    kit.show_code(
        [find_roles],
        words.snippet_roles.format(name=MODELS[first], every=EVERY),
        f"{found[first].together:.4f}",
    )


def verdicts(found: dict[str, UnitRoles]) -> str:
    """Say in which models the first letter is lost, and whether a single unit holds it."""
    lines = []
    for cell, of in found.items():
        case = "lost" if of.together <= of.usual + CLEAR else "unit" if of.tells else "spread"
        lines.append(
            words.told[case].format(
                model=words.cells[cell],
                counts=of.counts,
                remembers=of.remembers,
                guessed=kit.percent(of.guessed),
                together=kit.percent(of.together),
            )
        )
    return "\n\n".join(lines)


def question(found: dict[str, UnitRoles]) -> kit.Question | None:
    """Ask how often the first letter can be read; None where an answer is near the right one.

    The wrong ones are of somebody to whom the list holds all that it read, and of one to whom each
    of the letters so far has the same share of it.
    """
    right = tuple(of.together for of in found.values())
    values = {"right": right, "all": (1.0,) * len(right), "same": (1 / (LATER + 1),) * len(right)}
    apart = min(np.abs(np.subtract(right, values[name])).mean() for name in ("all", "same"))
    if apart < APART:
        return None
    return kit.Question(
        words.ask.format(later=LATER),
        [words.answers[name] for name in values],
        0,
        [words.reasons[name].format(**summary(found)) for name in values],
        values=list(values.values()),
    )
