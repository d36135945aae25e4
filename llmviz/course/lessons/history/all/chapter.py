"""Chapter "All of them": one name through nine models, their measures, and when each came."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.history import typed_name
from llmviz.course.lessons.history.all import axes, name, when, words
from llmviz.course.lessons.history.all.nine import measures
from llmviz.course.lessons.history.params import NAME
from llmviz.course.ui import engine, kit
from llmviz.course.ui.engine_ready import engine_ready
from llmviz.evaluation.nine_models import TRAINED

PARTS = {"name": name.draw, "axes": axes.draw, "when": when.draw}


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    missing = [model for model in TRAINED if model not in engine.names()]
    if missing:
        command = f"python -m llmviz checkpoints make {missing[0]}"
        text = words.missing.format(names=", ".join(missing), command=command)
        st.info(as_markdown(text), icon=":material/download:")
        return
    if engine_ready():
        kit.draw_part(state, "all", words.looks_label, words.looks, PARTS)
        typed = typed_name.read(state[NAME.key]).letters
        if typed:
            kit.seen(words.end, **end(typed))


def end(typed: str) -> dict[str, Any]:
    """Return what the end says of a name: the lowest and the highest losses of the nine."""
    means = -np.log(name.scores(typed)).mean(axis=1)
    every = measures()
    back = [model.context for model in every]
    losses = [model.loss for model in every]
    return {
        "name": kit.quote(typed),
        "low": float(means.min()),
        "high": float(means.max()),
        "least": min(losses),
        "most": max(losses),
        "back": kit.count(int(min(back)), "letter"),
        "far": kit.count(int(max(back)), "letter"),
    }
