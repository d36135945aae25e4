"""Chapter "Counting": the table of letter pairs, counted and learned, and longer contexts."""

import streamlit as st

from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.counting import dice, longer, network, pairs, words
from llmviz.course.lessons.history.counting.params import LONGEST
from llmviz.course.lessons.history.params import NAME
from llmviz.course.ui import kit
from llmviz.models.ngram import V

PARTS = {"pairs": pairs.draw, "dice": dice.draw, "network": network.draw, "longer": longer.draw}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.draw_part(state, "count", words.looks_label, words.looks, PARTS)
    name = typed_name.read(state[NAME.key]).letters
    if name:
        kit.seen(words.end, rows=V**LONGEST, longest=LONGEST, **pairs.end(pairs.counts(), name))
