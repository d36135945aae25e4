"""Chapter "Flash attention": softmax in tiles, what that saves, and what it takes here."""

import streamlit as st

from llmviz.course.lessons.efficiency.flash import film, moved, times, words
from llmviz.course.ui import kit


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    tiles = film.draw(state)
    moved.draw(state)
    times.draw(state)
    if tiles is not None:
        outputs = words.end_outputs
        output = outputs["rounded" if tiles.difference else "exact"].format(
            difference=kit.power_of_ten(tiles.difference)
        )
        computed = kit.count(len(tiles.tiles), "tile")
        kit.seen(words.end, computed=computed, output=output, **moved.end(state))
