"""The controls of a study, and the study that they make."""

import dataclasses

import streamlit as st

from llmviz.course.lessons.discoveries.own import NOTHING, words
from llmviz.course.lessons.discoveries.own.own_study import (
    SAME,
    SETTINGS,
    TRAINED,
    Study,
    base_plan,
    read_values,
)
from llmviz.course.ui import kit

KEY = "discoveries.own"


def varied(state: kit.PageState, draft: Study | None) -> None:
    """Show the setting that varies, its values, and which one is expected to be best."""
    expect_anew = state.setter(studyprediction=NOTHING, studyhypothesis="")

    def start_anew() -> None:
        start = SETTINGS[state["studysetting"]].start
        state["studyvalues"] = ", ".join(map(str, start))
        expect_anew()

    about = SETTINGS[state["studysetting"]]
    help_text = words.values_help["choices" if about.choices else "numbers"].format(
        low=f"{about.low:g}", high=f"{about.high:,g}", choices=", ".join(about.choices)
    )
    left, middle, right = st.columns(3)
    with left:
        # All of them: a setting that a model lacks is refused by name.
        st.selectbox(words.setting, **state.named("studysetting", words.settings, start_anew))
    with middle:
        kit.text_input(state, "studyvalues", words.values, expect_anew, help=help_text)
    with right:
        st.slider(words.seeds, **state.ranged("studyseeds"))
    if draft is not None:
        names = {str(place): str(value) for place, value in enumerate(draft.values, 1)}
        options = {NOTHING: words.choose, **names, SAME: words.no_difference}
        st.selectbox(words.predict_label, width=420, **state.named("studyprediction", options))


def controls(state: kit.PageState) -> None:
    """Show what else a study is made of."""
    expect_anew = state.setter(studyprediction=NOTHING, studyhypothesis="")
    top, below = st.columns(3), st.columns(3)
    with top[0]:
        models = {name: name for name in TRAINED}
        st.selectbox(words.model, **state.named("studymodel", models, expect_anew))
    with top[1]:
        st.selectbox(words.text, **state.named("studytext", words.texts, expect_anew))
    with top[2]:
        st.number_input(words.steps, step=50, **state.ranged("studysteps"))
    with below[0]:
        st.selectbox(words.measure, **state.named("studymeasure", words.measures, expect_anew))
    with below[1]:
        if state["studymeasure"] == "reach":
            st.number_input(words.target, step=0.1, **state.ranged("studytarget"))
    kit.prose(words.about[state["studymeasure"]])
    if state["studysetting"] == "characters":
        kit.prose(words.other_texts)


def draft_of(state: kit.PageState) -> Study:
    """Return the study of the controls, whatever is expected of it.

    Raises ValueError naming the rule and the value.
    """
    setting = state["studysetting"]
    return Study(
        setting,
        read_values(setting, state["studyvalues"]),
        state["studymeasure"],
        state["studyseeds"],
        SAME,
        words.hypothesis,
        base_plan(state["studymodel"], state["studytext"], state["studysteps"]),
        state["studytarget"] if state["studymeasure"] == "reach" else Study.target,
    )


def study_of(state: kit.PageState, draft: Study) -> Study | None:
    """Return the study with what is expected of it; None, saying so, while that is not there.

    Raises ValueError naming the rule, as `Study` does.
    """
    prediction, hypothesis = state["studyprediction"], state["studyhypothesis"].strip()
    if not prediction or not hypothesis:
        kit.prose(words.not_yet["hypothesis" if prediction else "prediction"])
        return None
    return dataclasses.replace(draft, prediction=prediction, hypothesis=hypothesis)


def expectation(state: kit.PageState) -> None:
    """Show where to write what is expected, and why."""
    kit.section(words.expect)
    kit.text_area(state, "studyhypothesis", words.hypothesis_label, height=80)
