"""Chapter "Optimizers": seven ways down, on a surface, for a neuron, for a language model."""

import streamlit as st

from llmviz.course.lessons.training.optimizers import bigram, letters, surface, words
from llmviz.course.ui import kit
from llmviz.course.ui.engine_ready import engine_ready

DRAW = {"surface": surface.draw, "letters": letters.draw, "model": bigram.draw}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show what goes down, where, and how far each optimizer comes."""
    kit.prose(words.hooks[state["ways"]])
    if not engine_ready():
        return
    with kit.stage("optimizers"):
        shown, rest = DRAW[state["ways"]](state)
    kit.choose(state, "ways", words.ways, words.parts, parts=True)
    rest(shown)
