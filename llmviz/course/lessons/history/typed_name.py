"""What the chapters of this lesson share: the learner's name as letters a to z, a model of names,
matrices whose kept cell stands in the link, the ways with the name into other lessons.
"""

from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.history import NAME, words
from llmviz.course.ui import engine, kit, selectable_models
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.course.ui.matrix_picture import Picture
from llmviz.tokenizers import ENDOFTEXT, Tokenizer


def load(name: str) -> engine.Bundled | None:
    """Return a bundled model; None, saying why, where it is not in this copy or torch fails."""
    if not kit.models_here(name):
        return None
    return selectable_models.load(name) if engine_ready() else None


def spoken_next(token: int, tokenizer: Tokenizer) -> str:
    """Return a next token for a sentence; the one that ends a name is called so."""
    return (
        words.name_ends
        if token == tokenizer.special_tokens[ENDOFTEXT]
        else kit.spoken(token, tokenizer)
    )


def show(state: kit.PageState, picture: Picture, *, key: str, control: str, **more: Any) -> None:
    """Draw linked matrices; `control` is the state's key of the kept cell, empty for none.

    A cell that no longer exists is let go. `more` goes to the view as it is.
    """
    shapes = {matrix.name: np.shape(matrix.values) for matrix in picture.matrices}
    lv.matrix_view(
        picture.matrices,
        layout=picture.layout,
        steps=picture.steps,
        key=key,
        pinned=lv.cell_of(state[control], shapes),
        windows=picture.windows,
        on_change=kit.bound(state, key, pinned=(control, kit.link_of)),
        **more,
    )


def places(name: str) -> dict[str, dict[str, str]]:
    """Return where other lessons go on: what the link to each page holds."""
    return {
        "attention": {"part": "why", "letters": name},
        "transformer": {"part": "block", "of": "model", "text": name},
        "training": {"part": "curves"},
    }


def link_onward(name: str) -> None:
    """Show links into the lessons on attention, the transformer and training."""
    kit.prose(words.elsewhere, name=kit.quote(name))
    with st.container(horizontal=True):
        for page, link in places(name).items():
            kit.chapter_link(page, label=words.links[page], **link)


LONGEST = 15  # letters: with the start token as many as the context of the bundled GPT
LISTED = 12  # different characters that a message names


@dataclass(frozen=True)
class TypedName:
    """What was typed, as far as it is used.

    letters: those from a to z, small. cut: the other characters, each once. typed: how many
    letters there were before the end was cut.
    """

    letters: str
    cut: tuple[str, ...]
    typed: int


def read(text: str, longest: int = LONGEST) -> TypedName:
    """Return the letters a to z of a text, capitals made small, at most `longest` of them.

    >>> read("Zoë-Ann")
    TypedName(letters='zoann', cut=('ë', '-'), typed=5)
    """
    kept: list[str] = []
    cut: dict[str, None] = {}
    for char in text:
        small = char.lower()
        if small in ascii_lowercase and len(small) == 1:
            kept.append(small)
        else:
            cut[char] = None
    return TypedName("".join(kept[:longest]), tuple(cut), len(kept))


def ask(state: kit.PageState, longest: int = LONGEST) -> str:
    """Show the box for the name; return its letters, and "" after one clear line if none is left.

    What is left out is named. The box keeps what the learner typed.
    """
    kit.text_input(state, NAME.key, words.name, help=words.name_help, width=280)
    return letters_of(state[NAME.key], longest, words.long, words.empty)


def letters_of(text: str, longest: int, long: str, empty: str) -> str:
    """Return the letters of a text that are read, and say what of it is left out.

    long: what is said of a longer text, with {all} and {limit}. empty: what is said of no letter.
    """
    reading = read(text, longest)
    if reading.cut:
        listed = " ".join(unmarked(kit.quote(char)) for char in reading.cut[:LISTED])
        listed += " …" if len(reading.cut) > LISTED else ""
        kit.inform(words.cut.format(cut=listed), ":material/content_cut:")
    if reading.typed > len(reading.letters):
        kit.inform(long.format(all=reading.typed, limit=longest), ":material/content_cut:")
    if not reading.letters:
        kit.inform(empty, ":material/edit:")
    return reading.letters
