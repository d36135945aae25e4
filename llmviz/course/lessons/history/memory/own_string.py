"""Part of the chapter "One test for all": the learner's own string through all models.

T letters, 26 of them in the alphabet.
"""

from __future__ import annotations

from string import ascii_lowercase as LETTERS
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.figures.losses import compared
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.memory import words
from llmviz.course.lessons.history.memory.model import answers
from llmviz.course.lessons.history.typed_name import link_onward
from llmviz.course.ui import kit
from llmviz.files.text import whole_number
from llmviz.training import first_letter
from llmviz.training.first_letter import LENGTH

if TYPE_CHECKING:
    from torch import nn

KEY = "history.memory.own"
LISTED = 6  # letters whose probabilities are drawn


def draw(state: kit.PageState, models: list[str]) -> None:
    """Show what each model says after each letter of a typed string."""
    kit.section(words.own, length=LENGTH)
    string = _ask(state)
    if not string:
        return
    try:
        chances = {name: probabilities(model_of(name), string) for name in models}
    except ValueError as error:
        kit.refuse(error)
        return
    first = LETTERS.index(string[0])
    guesses = {name: p.argmax(1) for name, p in chances.items()}
    model, at = chosen(state["asked"], models, len(string))
    key = f"{KEY}.grid"

    def opened() -> None:
        cell = st.session_state[key].get("chosen")
        if cell is not None and cell[0] < len(models):
            state["asked"] = f"{models[cell[0]]}.{cell[1]}"

    cell_grid(
        np.stack([chances[name][:, first] for name in models]),
        key=key,
        row_names=[words.models[name] for name in models],
        column_names=list(string),
        texts=[[LETTERS[guess] for guess in guesses[name]] for name in models],
        notes=[
            [
                words.note.format(
                    guess=LETTERS[guess], right=kit.percent(float(p[first])), first=string[0]
                )
                for guess, p in zip(guesses[name], chances[name], strict=True)
            ]
            for name in models
        ],
        strong=np.stack([guesses[name] == first for name in models]),
        role="value",
        limit=1.0,
        scale=words.grid_scale,
        label=words.grid,
        chosen=(models.index(model), at),
        on_change=opened,
    )
    kit.prose(
        ending(
            string, [words.models[n] for n in models], [g[-1] == first for g in guesses.values()]
        )
    )
    place = words.opened.format(model=words.models[model], n=at + 1, letter=kit.quote(string[at]))
    kit.prose(kit.bold(place))
    kit.chart(bars(model_of(model), string, at, kit.theme()), f"{KEY}.bars")
    _code(model, string, chances[model])
    link_onward(string[: typed_name.LONGEST])  # the other lessons read no longer name


def _ask(state: kit.PageState) -> str:
    """Show the box for the string; return its letters, and "" after one line if there is none."""
    kit.text_input(state, "string", words.string)
    return typed_name.letters_of(state["string"], LENGTH, words.long, words.empty)


def chosen(written: str, models: list[str], letters: int) -> tuple[str, int]:
    """Return the model and the letter that a link names; the first model at the end without one.

    >>> chosen("gru.2", ["mlp", "gru"], 5), chosen("gru.9", ["mlp", "gru"], 5)
    (('gru', 2), ('mlp', 4))
    """
    name, _, place = written.partition(".")
    at = whole_number(place)
    if name in models and at is not None and 0 <= at < letters:
        return name, at
    return models[0], letters - 1


def stamp(name: str) -> int:
    """Return what tells one state of a model's weights from another.

    Raises ValueError: they are not there.
    """
    path = first_letter.folder_of(name) / first_letter.MODEL
    try:
        return path.stat().st_mtime_ns
    except OSError as error:
        raise ValueError(f"the weights of {name} cannot be read: {error.strerror}") from None


def model_of(name: str) -> nn.Module:
    """Return a bundled model of the task; ValueError: it is not there."""
    return _model(name, stamp(name))


@kit.cached(6)
def _model(name: str, version: int) -> nn.Module:
    return first_letter.load(name)


probabilities = kit.cached(256)(answers)


@kit.cached(64)
def bars(model: nn.Module, string: str, at: int, mode: kit.Mode) -> kit.Figure:
    """Return the likeliest letters after one letter of the string, and the right one, as bars."""
    p, first = probabilities(model, string)[at], LETTERS.index(string[0])
    best = [int(index) for index in np.argsort(-p, kind="stable")[:LISTED]]
    listed = best if first in best else [*best, first]
    figure = compared(
        [LETTERS[index] for index in listed],
        [100 * float(p[index]) for index in listed],
        listed.index(first),
        words.opened_axis,
        mode,
        digits=1,
    )
    return figure.update_xaxes(range=[0, 118])


def ending(string: str, names: list[str], right: list[bool]) -> str:
    """Say which models give the first letter at the end of the string."""
    know = [name for name, fine in zip(names, right, strict=True) if fine]
    lost = [name for name, fine in zip(names, right, strict=True) if not fine]
    text = words.end_both if know and lost else words.end_right if know else words.end_wrong
    return text.format(
        after=words.end_after.format(n=len(string)) if len(string) > 1 else words.end_after_one,
        first=kit.quote(string[0]),
        right=kit.listed(know),
        know="gives" if len(know) == 1 else "give",
        wrong=kit.listed(lost),
        give="gives" if len(lost) == 1 else "give",
    )


def _code(model: str, string: str, chances: np.ndarray) -> None:
    best = LETTERS[int(chances[-1].argmax())]
    kit.show_code(
        [first_letter.load, answers],
        words.snippet_own_string.format(model=model, string=string),
        f"{best} {chances[-1].max():.3f}",
    )
