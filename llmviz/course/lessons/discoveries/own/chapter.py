"""Chapter "Your own discovery": one setting, three values, a few seeds, what chance explains."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from llmviz.course.figures.seeds import Dots, seed_dots
from llmviz.course.lessons.discoveries.own import NOTHING, going, own_study, words
from llmviz.course.lessons.discoveries.own.own_study_folder import (
    BUNDLED,
    FILE,
    WRONG,
    Result,
    measured,
    zipped,
)
from llmviz.course.lessons.discoveries.own.seed_spread import (
    APART,
    CONFIDENCE,
    Interval,
    Pair,
    best_place,
    interval,
    outcome,
    pairs,
    spreads,
)
from llmviz.course.ui import kit, runs
from llmviz.files.paths import HOME

APART_OF = 0.15  # of both together: how far the answers lie apart at least


@dataclass(frozen=True)
class Outcome:
    """A study that is over: its runs, and what was measured of each value by seed."""

    study: own_study.Study
    results: Sequence[Result]

    @cached_property
    def measured(self) -> list[dict[int, float]]:
        """For each value, its measurements by seed."""
        return measured(list(self.results), self.study)

    @cached_property
    def pairs(self) -> list[Pair]:
        """The three pairs of values, compared seed by seed."""
        return pairs(self.measured)

    @cached_property
    def intervals(self) -> list[Interval | None]:
        """The mean of each value; None where nothing was measured."""
        return [interval(list(by_seed.values())) if by_seed else None for by_seed in self.measured]

    @property
    def best(self) -> int | None:
        """The place of the value with the best mean, if one alone has it."""
        return best_place(self.measured, higher=self.study.higher_is_better)

    @property
    def apart(self) -> int:
        """How many pairs differ by more than seeds explain."""
        return sum(pair.how == APART for pair in self.pairs)


def written(value: float) -> str:
    """Return a number with four digits that count, and a true minus sign.

    >>> written(-0.01234567), written(1234567.0), written(0)
    ('−0.01235', '1,234,567', '0')
    """
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


def as_drawn(value: float) -> str:
    """Return a number as the picture writes it, one that would be 0 there with its digits.

    >>> as_drawn(0.03246), as_drawn(0.0016), as_drawn(0)
    ('0.032', '0.0016', '0')
    """
    return f"{value:.3f}" if 0.01 <= abs(value) < 100 else written(value)


def name_of(study: own_study.Study, place: int) -> str:
    """Return a value as sentences name it: it may be a word."""
    value = study.values[place]
    return f"{value:,}" if isinstance(value, int) else str(value)


def spread_question(found: Outcome) -> kit.Question | None:
    """Return how far seeds of one value lie apart, as a question beside how far the means do.

    The wrong answers are those of somebody to whom the same settings give the same number, to whom
    luck can be no larger than what a setting does, and who adds the two. None where that cannot be
    asked: too few seeds, all seeds alike, or as far apart as the means.
    """
    try:
        between, within = spreads(found.measured)
    except ValueError:
        return None
    both = between + within
    if min(within, between, abs(within - between)) <= APART_OF * both:
        return None
    kind = "more" if within > between else "less"
    cases = {"none": 0.0, "means": between, "both": both, "right": within}
    return kit.Question.named(
        words.ask,
        words.ask_reasons | {"right": words.ask_reasons[kind]},
        cases,
        as_drawn,
        between=as_drawn(between),
        within=as_drawn(within),
        least=name_of(found.study, 0),
    )


def spread_rows(found: Outcome, guess: kit.Guess, key: str) -> None:
    """Draw how far the means lie apart, and how far the seeds of one value; the latter is asked."""
    try:
        between, within = spreads(found.measured)
    except ValueError:
        return
    axis = kit.Axis(0, 1.2 * (between + within) or 1.0, words.axes[found.study.measure])
    cases = [kit.Case(words.between, between), kit.Case(words.within, within, role="value")]
    look: dict[str, Any] = {
        "veiled": [1] if guess.question else [],
        "form": "figure",
        "picture": f"{key}.rows",
    }
    guess.cases(cases, axis, **look)


def _numbers(found: Outcome, mode: kit.Mode) -> tuple[object, ...]:
    return found.study, tuple(tuple(by_seed.items()) for by_seed in found.measured), mode


@kit.cached(64, key=_numbers)
def chart(found: Outcome, mode: kit.Mode) -> go.Figure:
    """Return every run as a dot, with means and intervals."""
    study = found.study
    drawn = [
        Dots(name_of(study, place), by_seed, mean.half if mean else None)
        for place, (by_seed, mean) in enumerate(zip(found.measured, found.intervals, strict=True))
    ]
    return seed_dots(
        drawn,
        (words.settings[study.setting], words.axes[study.measure]),
        (words.dot, words.dot_of, words.mean, words.mean_interval, words.predicted),
        mode,
        predicted=study.best_predicted,
    )


def missing_lines(found: Outcome) -> list[str]:
    """Return what is said of runs that went wrong, and of runs without a number."""
    study, lines = found.study, []
    wrong = [run for run in found.results if run.ended == WRONG]
    if wrong:
        names = ", ".join(
            words.run_named.format(value=name_of(study, run.place), seed=run.seed) for run in wrong
        )
        how = "one" if len(wrong) == 1 else "some"
        lines.append(
            words.wrong[how].format(
                count=len(wrong), names=names, line=kit.quote(wrong[0].line, 200)
            )
        )
    absent = len(found.results) - sum(map(len, found.measured)) - len(wrong)
    if absent:
        lines.append(
            words.missing.format(
                count=absent, runs=len(found.results), why=words.why[study.measure == "reach"]
            )
        )
    return lines


def verdict_line(found: Outcome, pair: Pair) -> str:
    """Return what can be said of two values."""
    difference, how = pair.difference, pair.how
    first, second = (name_of(found.study, place) for place in (pair.first, pair.second))
    if how == APART and difference.half == 0:
        how = "exact"
    half = difference.half or 0.0
    size = abs(difference.mean)
    # The interval of how much higher, or lower, the second one is.
    return words.verdicts[how].format(
        first=first,
        second=second,
        way=words.way["more" if difference.mean > 0 else "less"],
        mean=written(size),
        low=written(size - half),
        high=written(size + half),
    )


def expected_line(study: own_study.Study) -> str:
    """Return what was expected before the runs."""
    value = "" if study.prediction == own_study.SAME else name_of(study, study.best_predicted or 0)
    how = "same" if study.prediction == own_study.SAME else "value"
    return words.expected[how].format(value=value, hypothesis=kit.quote(study.hypothesis, 400))


def outcome_line(found: Outcome) -> str:
    predicted, best = found.study.best_predicted, found.best
    how = outcome(found.pairs, best, predicted)
    if how == "open" and predicted is None:
        how = "open_same"
    return words.outcome[how].format(
        value="" if predicted is None else name_of(found.study, predicted),
        best="" if best is None else name_of(found.study, best),
    )


def end_line(found: Outcome) -> str:
    """Return what was seen, in numbers."""
    best, kind = found.best, ("none", "one", "some", "all")[found.apart]
    numbers = {"runs": len(found.results), "apart": words.apart[kind].format(count=found.apart)}
    if best is None:
        return words.seen["tie"].format(**numbers)
    mean = found.intervals[best]
    return words.seen["some"].format(
        **numbers, best=name_of(found.study, best), mean=written(mean.mean if mean else 0.0)
    )


KEY = "discoveries.own"


def varied(state: kit.PageState, draft: own_study.Study | None) -> None:
    """Show the setting that varies, its values, and which one is expected to be best."""
    expect_anew = state.setter(studyprediction=NOTHING, studyhypothesis="")

    def start_anew() -> None:
        start = own_study.SETTINGS[state["studysetting"]].start
        state["studyvalues"] = ", ".join(map(str, start))
        expect_anew()

    about = own_study.SETTINGS[state["studysetting"]]
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
        options = {NOTHING: words.choose, **names, own_study.SAME: words.no_difference}
        st.selectbox(words.predict_label, width=420, **state.named("studyprediction", options))


def controls(state: kit.PageState) -> None:
    """Show what else a study is made of."""
    expect_anew = state.setter(studyprediction=NOTHING, studyhypothesis="")
    top, below = st.columns(3), st.columns(3)
    with top[0]:
        models = {name: name for name in own_study.TRAINED}
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


def draft_of(state: kit.PageState) -> own_study.Study:
    """Return the study of the controls, whatever is expected of it.

    Raises ValueError naming the rule and the value.
    """
    setting = state["studysetting"]
    return own_study.Study(
        setting,
        own_study.read_values(setting, state["studyvalues"]),
        state["studymeasure"],
        state["studyseeds"],
        own_study.SAME,
        words.hypothesis,
        own_study.base_plan(state["studymodel"], state["studytext"], state["studysteps"]),
        state["studytarget"] if state["studymeasure"] == "reach" else own_study.Study.target,
    )


def study_of(state: kit.PageState, draft: own_study.Study) -> own_study.Study | None:
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


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how much luck there is in a study, the guess about it, and what the study says."""
    kit.prose(words.hook)
    draft, found, guess = None, None, kit.Guess(f"{KEY}.spread", None)
    with kit.stage("own"):
        try:
            draft = draft_of(state)
            if (study := study_of(state, draft)) is not None:
                if going.is_over(study):
                    found = Outcome(study, going.results(study))
                    guess = kit.Guess(f"{KEY}.spread", spread_question(found))
                    spread_rows(found, guess, KEY)
                else:
                    runs.manager().warm()
                    going.draw(study)
        except ValueError as error:
            kit.refuse(error)
        varied(state, draft)
    revealed = guess.ask()
    if revealed and (found is not None or guess.given is not None):
        kit.looks(state, words.looks, f"{KEY}.looks")
    if found is not None and revealed:
        _came_out(found)
    kit.section(words.intro)
    controls(state)
    expectation(state)
    if found is not None and revealed:
        _keep(found)
        if any(found.measured):
            kit.seen(words.end, told=end_line(found))


def _came_out(found: Outcome) -> None:
    kit.section(words.results)
    for line in missing_lines(found):
        kit.prose(line)
    if not any(found.measured):
        kit.prose(words.nothing)
        return
    kit.chart(chart(found, kit.theme()), f"{KEY}.chart", bar=False)
    counts = {len(by_seed) for by_seed in found.measured}
    how = "one" if max(counts) == 1 else "many" if len(counts) == 1 else "some"
    kit.prose(words.interval[how])
    if how != "one":
        kit.measured(words.how_interval, seeds=found.study.seeds)
    _verdict(found)


def _verdict(found: Outcome) -> None:
    kit.section(words.verdict)
    for pair in found.pairs:
        kit.prose(verdict_line(found, pair))
    kit.prose(expected_line(found.study))
    kit.prose(outcome_line(found))
    kit.prose(words.here, steps=found.study.base.train.steps)
    level = f"{100 * (1 - (1 - CONFIDENCE) / len(found.pairs)):.1f}"
    kit.measured(words.how_compared, level=level)


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
