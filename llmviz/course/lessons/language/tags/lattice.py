"""Viterbi's lattice of one sentence of the text, with a caption for each step."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from llmviz.corpus.roles import TAGS
from llmviz.course.components.lattice.view import LatticeNumbers, lattice_view
from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.tags import words
from llmviz.course.ui import kit
from llmviz.language.hmm import Lattice
from llmviz.textfile import whole_number

KEY = "language.tags.lattice"
DRAWN = 24  # words that have a column
LONG = 16  # letters of a word that a caption holds


def draw(state: kit.PageState, texts: Sequence[str], parts: Sequence[range]) -> None:
    """Show the section on the lattice."""
    which = min(state["which"], len(parts))
    whole = [texts[i] for i in parts[which - 1]]
    drawn = tuple(whole[:DRAWN])
    kit.section(words.lattice)
    kit.prose(
        words.lattice_text,
        words=kit.count(len(drawn), "word"),
        ways=_ways(len(drawn)),
        tags=len(TAGS),
    )
    if len(parts) > 1:
        st.number_input(words.which, step=1, width=140, **state.ranged("which", most=len(parts)))
    if len(whole) > DRAWN:
        line = words.lattice_cut.format(drawn=DRAWN, all=len(whole))
        kit.inform(line, ":material/content_cut:")
    lattice = counted.lattice(state["smooth"], drawn)

    lattice_view(
        numbers_of(lattice),
        key=KEY,
        captions=captions(lattice),
        text=words.lattice_texts,
        step=len(drawn) if state["column"] < 0 else state["column"],
        chosen=_cell(state["cell"], len(drawn)) or (len(drawn) - 1, lattice.path[-1]),
        on_change=kit.bound(
            state,
            KEY,
            step=("column", kit.one_of(range(len(drawn)), -1)),
            chosen=("cell", kit.link_of),
        ),
    )


def _ways(length: int) -> str:
    ways = len(TAGS) ** length
    return f"{ways:,}" if ways < 10**9 else f"{len(TAGS)} to the power of {length}"


def _cell(written: str, length: int) -> tuple[int, int] | None:
    place = [whole_number(part) for part in written.split(".")]
    if len(place) == 2 and None not in place and place[0] < length and place[1] < len(TAGS):
        return place[0], place[1]
    return None


def numbers_of(lattice: Lattice) -> LatticeNumbers:
    """Return what the picture needs of a lattice."""
    hmm = lattice.hmm
    return LatticeNumbers(
        lattice.words,
        hmm.tags,
        lattice.scores,
        lattice.back,
        np.log(np.stack([hmm.column(word) for word in lattice.words])),
        np.log(hmm.start),
        np.log(hmm.transition),
        lattice.path,
        lattice.seen,
    )


def captions(lattice: Lattice) -> list[str]:
    """Return a sentence for each step: each word's column, then the way back."""
    lines = []
    for t, word in enumerate(lattice.words):
        best = int(lattice.scores[t].argmax())
        line = (words.caption if t else words.caption_first).format(
            word=_short(word),
            tags=len(lattice.hmm.tags),
            tag=lattice.hmm.tags[best],
            score=kit.signed(lattice.scores[t, best]),
        )
        lines.append(line + ("" if lattice.seen[t] else words.caption_unseen))
    path = " → ".join(reversed(lattice.tags))
    lines.append(words.caption_last.format(path=path, score=kit.signed(lattice.log_prob)))
    return lines


def _short(word: str) -> str:
    return word if len(word) <= LONG else f"{word[: LONG - 1]}…"
