"""Chapter "Counting": the table of letter pairs, counted and learned, and longer contexts."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.history import typed_name
from llmviz.lessons.history.counting import dice, longer, network, pairs, words
from llmviz.lessons.history.counting.params import LONGEST
from llmviz.lessons.history.params import NAME
from llmviz.models.ngram import V
from llmviz.ui.chapter_parts import draw_part
from llmviz.ui.lesson import seen
from llmviz.ui.state import PageState

PARTS = {"pairs": pairs.draw, "dice": dice.draw, "network": network.draw, "longer": longer.draw}


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    draw_part(state, "count", words.looks_label, words.looks, PARTS)
    name = typed_name.read(state[NAME.key]).letters
    if name:
        seen(words.end, rows=V**LONGEST, longest=LONGEST, **pairs.end(pairs.counts(), name))
