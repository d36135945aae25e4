"""Part of the chapter "RNN, GRU, LSTM": the unit that counts, the unit that remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from llmviz.components.cell_grid.view import cell_grid
from llmviz.lessons.history.recurrent import words
from llmviz.lessons.history.recurrent.strips import rows_of, states
from llmviz.study.invented_names import names_learned_from
from llmviz.study.unit_roles import LATER, UnitRoles, find_roles
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.common import percent, signed
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState

if TYPE_CHECKING:
    from torch import nn

KEY = "history.recurrent.roles"
CLEAR = 0.1  # a difference between two shares that is more than luck
EVERY = 3  # of the names that the model learned from, one in so many


def draw(state: PageState, bundled: engine.Bundled, name: str) -> None:
    """Show both units on the name, and how well they do what they do."""
    cell, known = state["cell"], (bundled.name, bundled.version)
    found = roles(*known)
    names, units = found.names, len(found.shares)
    section(words.ROLES, words.ROLES_TEXT.format(names=f"{names:,}", later=LATER))
    predict(question(found, words.CELLS[cell]), f"{KEY}.ask")
    values = (
        states(*known, name).parts[part_of(bundled.model)][:, [found.counts, found.remembers]].T
    )
    numbers = values.tolist()
    cell_grid(
        values.numpy(),
        key=f"{KEY}.{cell}",
        row_names=[
            words.COUNTS.format(unit=found.counts),
            words.REMEMBERS.format(unit=found.remembers),
        ],
        column_names=rows_of(bundled.name, name),
        texts=[[signed(one) for one in row] for row in numbers],
        notes=[[words.ROLE_NOTE.format(value=signed(one)) for one in row] for row in numbers],
        role="value",
        scale=words.ROLES_SCALE,
        label=words.ROLES_LABEL,
    )
    prose(report(found, units))
    _code(bundled, found)


def part_of(model: nn.Module) -> str:
    """Return which tensor of a recurrent model is its memory: the cell, where it has one."""
    return "cell" if model.layers[0].n_state > 1 else "hidden"


@kept(8)
def roles(model: str, version: str) -> UnitRoles:
    """Return the units of a bundled model that count and remember."""
    bundled = engine.load(model)
    names = names_learned_from()[::EVERY]
    return find_roles(bundled.model, bundled.tokenizer, names, part_of(bundled.model))


def report(found: UnitRoles, units: int) -> str:
    """Say how well both units do what they do."""
    text = words.ROLES_READ.format(
        counts=found.counts,
        correlation=signed(found.correlation),
        remembers=found.remembers,
        explained=percent(found.explained),
        guessed=percent(found.guessed),
        usual=percent(found.usual),
        units=units,
        together=percent(found.together),
    )
    # A difference of a few cases in a hundred is no evidence.
    if found.together <= found.usual + CLEAR:
        return text + words.ROLES_LOST
    return text + (words.ROLES_SPREAD if found.together > found.guessed + CLEAR else "")


def question(found: UnitRoles, model: str) -> Question:
    """Ask how much of the first letter is in all units together."""
    right = int(np.searchsorted([0.25, 0.5, 0.75], found.together, side="right"))
    reason = words.ROLES_REASON.format(together=percent(found.together))
    return Question(
        words.ROLES_ASK.format(units=len(found.shares), model=model, later=LATER),
        words.ROLES_ANSWERS,
        right,
        [reason] * len(words.ROLES_ANSWERS),
    )


def _code(bundled: engine.Bundled, found: UnitRoles) -> None:
    show_code(
        [find_roles],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.study.invented_names import names_learned_from\n"
        "from llmviz.study.unit_roles import find_roles\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"names = names_learned_from()[::{EVERY}]\n"
        f"found = find_roles(model, tokenizer, names, {part_of(bundled.model)!r})\n"
        'print(found.counts, f"{found.correlation:.3f}", found.remembers)',
        f"{found.counts} {found.correlation:.3f} {found.remembers}",
    )
