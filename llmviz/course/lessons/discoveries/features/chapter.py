"""Chapter "Features, judged by the truth": a sparse autoencoder on the story model's stream."""

from dataclasses import replace

import numpy as np
import streamlit as st

from llmviz.course.lessons.discoveries.features import one, own, sizes, truth, words
from llmviz.course.lessons.discoveries.features_record import (
    COMMAND,
    LAYERS,
    MAIN,
    MODEL,
    ON_EACH,
    SIZE,
    SIZES,
    bundle,
    scores,
    weights_of,
)
from llmviz.course.ui import engine, kit

KEY = "discoveries.features"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    try:
        found = scores()
        for layer in LAYERS:
            bundle(layer)
        for size in SIZES:
            bundle(MAIN, size)
    except ValueError:
        kit.section(words.intro.title)
        st.info(words.missing, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    kit.section(
        words.intro,
        width=truth.width(),
        features=SIZE,
        on=ON_EACH,
        tokens=found.learned_tokens,
    )
    if not kit.models_here(MODEL):
        return
    if found.weights != weights_of(engine.folder_of(MODEL)):
        st.info(words.other_weights, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    opened = kit.predict(loss_question(), f"{KEY}.loss", covers=True)
    if opened:
        sizes.replaced()
    one.draw(state)
    judged = kit.predict(truth.question(), f"{KEY}.best", covers=True)
    if judged:
        truth.draw(state)
        sizes.draw(state)
    own.draw(state)
    if opened and judged:
        kit.seen(words.end, **end_numbers())


def loss_question() -> kit.Question:
    """Return the question how much of the loss comes back with features."""
    plain = scores().at(MAIN)
    shares = [scores().recovered(run) for run in scores().of(MAIN)]
    right = int(np.searchsorted([0.5, 0.9, 0.98], np.mean(shares)))
    question = kit.Question.of(
        words.ask_loss,
        right,
        layer=MAIN,
        on=ON_EACH,
        features=SIZE,
        loss=float(np.mean([score.loss for score in plain])),
        mean=float(np.mean([score.mean_loss for score in plain])),
    )
    return replace(question, scale=True)


def end_numbers() -> dict[str, object]:
    """Return the numbers that the chapter ends with."""
    word, state = (truth.medians(MAIN, SIZE, kind) for kind in ("word", "state"))
    return {
        "on": ON_EACH,
        "features": SIZE,
        "recovered": sizes.recovered(),
        "feature": truth.three(word["feature"]),
        "unit": truth.three(word["unit"]),
        "state": truth.three(state["feature"]),
        "reading": truth.three(state["reading"]),
    }
