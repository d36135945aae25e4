"""Part of the chapter "RNN, GRU, LSTM": the unit that counts, the unit that remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.history.recurrent import words
from llmviz.course.lessons.history.recurrent.strips import rows_of, states
from llmviz.course.lessons.history.recurrent.unit_roles import LATER, UnitRoles, find_roles
from llmviz.course.ui import engine, kit
from llmviz.evaluation.invented_names import names_learned_from

if TYPE_CHECKING:
    from torch import nn

KEY = "history.recurrent.roles"
CLEAR = 0.1  # a difference between two shares that is more than luck
EVERY = 3  # of the names that the model learned from, one in so many


def draw(state: kit.PageState, bundled: engine.Bundled, name: str) -> None:
    """Show both units on the name, and how well they do what they do."""
    cell, known = state["cell"], (bundled,)
    unit_roles = roles(*known)
    names, units = unit_roles.names, len(unit_roles.shares)
    kit.section(words.roles, names=f"{names:,}", later=LATER)
    if not kit.predict(question(unit_roles, words.cells[cell]), f"{KEY}.ask", covers=True):
        return
    shown = [unit_roles.counts, *([unit_roles.remembers] if unit_roles.tells else [])]
    titles = [
        text.format(unit=unit)
        for text, unit in zip((words.counts, words.remembers), shown, strict=False)
    ]
    values = states(*known, name).parts[part_of(bundled.model)][:, shown].T
    numbers = values.tolist()
    cell_grid(
        values.numpy(),
        key=f"{KEY}.{cell}",
        row_names=titles,
        column_names=rows_of(bundled, name),
        texts=[[kit.signed(v) for v in row] for row in numbers],
        notes=[[words.role_note.format(value=kit.signed(v)) for v in row] for row in numbers],
        role="value",
        scale=words.roles_scale,
        label=words.roles_label,
    )
    kit.prose(report(unit_roles, units))
    kit.show_code(
        [find_roles],
        words.snippet_roles.format(name=bundled.name, every=EVERY, model=part_of(bundled.model)),
        f"{unit_roles.counts} {unit_roles.correlation:.3f} {unit_roles.remembers}",
    )


def part_of(model: nn.Module) -> str:
    """Return which tensor of a recurrent model is its memory: the cell, where it has one."""
    return "cell" if model.layers[0].n_state > 1 else "hidden"


@kit.kept(8)
def roles(bundled: engine.Bundled) -> UnitRoles:
    """Return the units of a bundled model that count and remember."""
    names = names_learned_from()[::EVERY]
    return find_roles(bundled.model, bundled.tokenizer, names, part_of(bundled.model))


def report(unit_roles: UnitRoles, units: int) -> str:
    """Say how well both units do what they do."""
    line = (words.roles_unit if unit_roles.tells else words.roles_no_unit).format(
        remembers=unit_roles.remembers,
        explained=kit.percent(unit_roles.explained),
        guessed=kit.percent(unit_roles.guessed),
        usual=kit.percent(unit_roles.usual),
    )
    text = words.roles_read.format(
        counts=unit_roles.counts,
        correlation=kit.signed(unit_roles.correlation),
        told=line,
        units=units,
        together=kit.percent(unit_roles.together),
    )
    # A difference of a few cases in a hundred is no evidence.
    if unit_roles.together <= unit_roles.usual + CLEAR:
        return text + words.roles_lost
    spread = unit_roles.tells and unit_roles.together > unit_roles.guessed + CLEAR
    return text + (words.roles_spread if spread else "")


def question(unit_roles: UnitRoles, model: str) -> kit.Question:
    """Ask how much of the first letter is in all units together."""
    right = int(np.searchsorted([0.25, 0.5, 0.75], unit_roles.together, side="right"))
    values = {"units": len(unit_roles.shares), "model": model, "later": LATER}
    values["together"] = kit.percent(unit_roles.together)
    return kit.Question.rated(
        words.roles_ask, words.roles_answers, right, words.roles_reason, **values
    )
