"""Chapter "Numbers as bits": formats, sums, gradients in 16 bits, and a training in each."""

import streamlit as st

from llmviz.course.lessons.efficiency.bits import (
    gradients,
    lost_updates,
    one_number,
    race,
    sums,
    words,
)
from llmviz.course.ui import kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    number = one_number.draw(state)
    sums.draw(state)
    step = gradients.draw(state)
    if step is not None:
        lost_updates.draw(state, step)
    race.draw(state)
    kit.seen(words.end, **one_number.held_as(number))
