"""The controls of a study, and the study that they make."""

import dataclasses

import streamlit as st

from llmviz.course.lessons.discoveries.own import words
from llmviz.course.lessons.discoveries.own.own_study import (
    SAME,
    SETTINGS,
    TRAINED,
    Study,
    base_plan,
    read_values,
)
from llmviz.course.lessons.discoveries.own.params import NOTHING
from llmviz.course.ui import kit

KEY = "discoveries.own"


def controls(state: kit.PageState) -> None:
    """Show what a study is made of, apart from what is expected."""
    expect_anew = state.setter(studyprediction=NOTHING, studyhypothesis="")

    def start_anew() -> None:
        start = SETTINGS[state["studysetting"]].start
        state["studyvalues"] = ", ".join(map(str, start))
        expect_anew()

    top, middle, below = st.columns(3), st.columns(3), st.columns(3)
    with top[0]:
        models = {name: name for name in TRAINED}
        st.selectbox(words.model, **state.named("studymodel", models, expect_anew))
    with top[1]:
        st.selectbox(words.text, **state.named("studytext", words.texts, expect_anew))
    with top[2]:
        # All of them: a setting that a model lacks is refused by name.
        st.selectbox(words.setting, **state.named("studysetting", words.settings, start_anew))
    about = SETTINGS[state["studysetting"]]
    with middle[0]:
        kit.text_input(
            state,
            "studyvalues",
            words.values,
            expect_anew,
            help=words.values_help["choices" if about.choices else "numbers"].format(
                low=f"{about.low:g}", high=f"{about.high:,g}", choices=", ".join(about.choices)
            ),
        )
    with middle[1]:
        st.selectbox(words.measure, **state.named("studymeasure", words.measures, expect_anew))
    with middle[2]:
        if state["studymeasure"] == "reach":
            st.number_input(words.target, step=0.1, **state.ranged("studytarget"))
    with below[0]:
        st.slider(words.seeds, **state.ranged("studyseeds"))
    with below[1]:
        st.number_input(words.steps, step=50, **state.ranged("studysteps"))
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


def same_in_all(study: Study) -> None:
    """Show, in a fold, every setting that all runs share."""
    box = kit.fold(words.stays, f"_{KEY}.stays", ":material/tune:")
    if box is None:
        return
    values = study.base.to_dict()
    train, options = values.pop("train"), values.pop("model_options")
    rows = [
        (name, str(value))
        for name, value in {**values, **options, **train}.items()
        if name not in (study.setting, "seed") and value not in (None, "", ())
    ]
    with box:
        kit.rows_table(rows, words.same_columns, height=280)


def expectation(state: kit.PageState, draft: Study) -> Study | None:
    """Show where to write what is expected; return the study with it, None while it is not there.

    Raises ValueError naming the rule, as `Study` does.
    """
    kit.section(words.expect)
    names = {str(place): str(value) for place, value in enumerate(draft.values, 1)}
    options = {NOTHING: words.choose, **names, SAME: words.no_difference}
    st.selectbox(words.predict_label, width=420, **state.named("studyprediction", options))
    kit.text_area(state, "studyhypothesis", words.hypothesis_label, height=80)
    prediction, hypothesis = state["studyprediction"], state["studyhypothesis"].strip()
    if not prediction:
        kit.prose(words.not_yet["prediction"])
        return None
    if not hypothesis:
        kit.prose(words.not_yet["hypothesis"])
        return None
    return dataclasses.replace(draft, prediction=prediction, hypothesis=hypothesis)
