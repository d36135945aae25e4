"""Chapter "Your own discovery": one setting, three values, a few seeds, what chance explains."""

import dataclasses

import streamlit as st

from llmviz.course.lessons.discoveries.own import NOTHING, going, outcome, words
from llmviz.course.lessons.discoveries.own.outcome import Outcome
from llmviz.course.lessons.discoveries.own.own_study import (
    SAME,
    SETTINGS,
    TRAINED,
    Study,
    base_plan,
    read_values,
)
from llmviz.course.lessons.discoveries.own.own_study_folder import BUNDLED, FILE, zipped
from llmviz.course.lessons.discoveries.own.seed_spread import CONFIDENCE, interval, pairs
from llmviz.course.ui import kit, runs
from llmviz.paths import HOME

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


STAGED = True


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how much luck there is in a study, the guess about it, and what the study says."""
    kit.prose(words.hook)
    draft, found, asked = None, None, None
    with kit.stage("own", stays=False):
        try:
            draft = draft_of(state)
            if (study := study_of(state, draft)) is not None:
                if going.is_over(study):
                    found = Outcome(study, going.results(study))
                    asked = outcome.spread_question(found)
                    outcome.spread_rows(found, asked, KEY)
                else:
                    runs.manager().warm()
                    going.draw(study)
        except ValueError as error:
            kit.refuse(error)
        varied(state, draft)
    told = asked is None or kit.predict(asked, f"{KEY}.spread", covers=True, hand=True)
    if found is not None and told:
        kit.looks(state, words.looks, f"{KEY}.looks")
        _came_out(found)
    kit.section(words.intro)
    controls(state)
    expectation(state)
    if found is not None and told:
        _keep(found)
        if any(found.measured):
            kit.seen(words.end, told=outcome.end_line(found))


def _came_out(found: Outcome) -> None:
    kit.section(words.results)
    for line in outcome.missing_lines(found):
        kit.prose(line)
    if not any(found.measured):
        kit.prose(words.nothing)
        return
    kit.chart(outcome.chart(found, kit.theme()), f"{KEY}.chart", bar=False)
    counts = {len(by_seed) for by_seed in found.measured}
    how = "one" if max(counts) == 1 else "many" if len(counts) == 1 else "some"
    kit.prose(words.interval[how].format(seeds=found.study.seeds))
    _verdict(found)


def _verdict(found: Outcome) -> None:
    kit.section(words.verdict, level=f"{100 * (1 - (1 - CONFIDENCE) / len(found.pairs)):.1f}")
    for pair in found.pairs:
        kit.prose(outcome.verdict_line(found, pair))
    kit.prose(outcome.expected_line(found.study))
    kit.prose(outcome.outcome_line(found))
    kit.prose(words.here, steps=found.study.base.train.steps)


def _keep(found: Outcome) -> None:
    study = found.study
    try:
        folder = going.settled(study)
    except ValueError as error:
        kit.refuse(error)
        return
    kit.section(words.keep)
    kit.prose(words.again)
    place = BUNDLED.relative_to(HOME).as_posix() if folder == BUNDLED else folder.name
    st.code(f"python -m llmviz study run {place}/{FILE}", language="sh")
    st.download_button(
        words.save,
        lambda: zipped(folder),
        f"{study.key}.zip",
        "application/zip",
        icon=":material/download:",
        on_click="ignore",
    )
    _code(found)


def _code(found: Outcome) -> None:
    measured = found.measured

    def printed() -> str:
        return "\n".join(
            f"{pair.first} {pair.second} {pair.difference.mean:.6g} {pair.how}"
            for pair in pairs(measured)
        )

    kit.show_code(
        [interval, pairs],
        "from llmviz.course.lessons.discoveries.own.seed_spread import pairs\n\n"
        f"measured = {measured!r}\n"
        "for pair in pairs(measured):\n"
        '    print(f"{pair.first} {pair.second} {pair.difference.mean:.6g} {pair.how}")',
        printed,
    )
