"""Chapter "Flash attention": softmax in tiles, what that saves, and what it takes here."""

from __future__ import annotations

import streamlit as st

from llmviz.lessons.efficiency.flash import film, moved, times, words
from llmviz.ui.common import count, power_of_ten
from llmviz.ui.lesson import section, seen
from llmviz.ui.state import PageState


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    tiles = film.draw(state)
    moved.draw(state)
    times.draw(state)
    if tiles is not None:
        outputs = words.end_outputs
        output = outputs["rounded" if tiles.difference else "exact"].format(
            difference=power_of_ten(tiles.difference)
        )
        computed = count(len(tiles.tiles), "tile")
        seen(words.end, computed=computed, output=output, **moved.end(state))
