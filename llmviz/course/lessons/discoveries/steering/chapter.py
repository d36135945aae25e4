"""Chapter "Steering": a direction is added while the model writes, or taken out."""

import streamlit as st

from llmviz.corpus.states import RULES
from llmviz.course.lessons.discoveries.features_record import MODEL, weights_of
from llmviz.course.lessons.discoveries.features_record import bundle as features_bundle
from llmviz.course.lessons.discoveries.steering import doses, removal, words
from llmviz.course.lessons.discoveries.steering.model import COMMAND, Choice, recorded
from llmviz.course.ui import engine, kit

KEY = "discoveries.steering"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    try:
        found = recorded()
        features_bundle(0)
    except ValueError:
        kit.section(words.intro.title)
        st.info(words.missing, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    kit.section(words.intro)
    if not kit.models_here(MODEL):
        return
    if found.weights != weights_of(engine.folder_of(MODEL)):
        st.info(words.other_weights, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    for way in words.ways:
        kit.prose(way)
    dosed = kit.predict(dose_question(), f"{KEY}.ask", covers=True)
    if dosed:
        doses.draw(state)
    question = removal.question(engine.load(MODEL).model.config.n_embd)
    opened = kit.predict(question, f"{KEY}.removed", covers=True)
    if opened:
        removal.draw(state)
    if dosed and opened:
        kit.seen(words.end, **end_numbers())


def dose_question() -> kit.Question:
    """Return the question what the highest dose of the first choice does."""
    steered = recorded().by_choice[Choice()]
    zero, last = steered.doses.index(0.0), len(steered.doses) - 1
    share, kept = steered.of("share").mean(0), steered.of("kept").mean(0)
    return kit.Question.of(
        words.ask_dose,
        target=doses.label_of(steered.choice.target),
        none=kit.percent(float(share[zero])),
        high=f"{steered.doses[last]:g}",
        share=kit.percent(float(share[last])),
        kept=kit.percent(float(kept[last])),
    )


def end_numbers() -> dict[str, object]:
    """Return the numbers that the chapter ends with."""
    steered, found = recorded().by_choice[Choice()], recorded().removals
    zero, last = steered.doses.index(0.0), len(steered.doses) - 1
    share, row = steered.of("share"), RULES.index(removal.TARGET)
    return {
        "target": doses.label_of(steered.choice.target),
        "dose": f"{steered.doses[last]:g}",
        "none": doses.shares(share[:, zero]),
        "share": doses.shares(share[:, last]),
        "rise": doses.three(steered.damage[:, last]),
        "own": float(found.rises[:, row, row].mean()),
        "rest": float(found.rises[:, row, -1].mean()),
    }
