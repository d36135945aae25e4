"""Chapter "Is it as sure as it is right?": reliability, temperature scaling, what training does.

B bins.
"""

from typing import Any

import streamlit as st

from llmviz.course.figures.calibration import over_temperature, reliability_chart
from llmviz.course.lessons.errors.calibration import own_story, smoothing, words
from llmviz.course.lessons.errors.measured import known_errors, measure_live
from llmviz.course.lessons.errors.model_errors import (
    BASE,
    CAME,
    COMMAND,
    STORIES,
    TO_FIT,
    TRUE,
    ModelErrors,
)
from llmviz.course.lessons.errors.story import reads_stories
from llmviz.course.ui import kit
from llmviz.evaluation.calibration import TEMPERATURES, fit_temperature, reliability

KEY = "errors.calibration"
POINT = 0.01  # nearer than that, sure and right count as equal in the question
EVEN = 0.005  # … and in the sentence
SAME = 0.0005  # calibration errors that differ by less count as equal


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    held_out = kit.count(STORIES, "story", "stories")
    kit.section(words.intro, stories=held_out, command=COMMAND)
    known = known_errors()
    names = [*known, *kit.offered(reads_stories, state["sure_model"])]
    if not names:
        return
    name = kit.keep(state, "sure_model", names)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            words.model, names, format_func=kit.label, width=280, **state.bind("sure_model")
        )
        kit.choose(state, "against", words.against, words.held_against)
        st.slider(words.heat, step=0.1, width=260, **state.ranged("heat"))
    measured = known.get(name) or _own(state, name)
    covered = measured is None
    if measured is not None:
        covered = not kit.predict(question(name, measured), f"{KEY}.{name}", covers=True)
        if not covered:
            _chart(state, name, measured)
            _heat(state, name, measured)
    if not covered:
        _training(known)
        smoothing.draw()
    own = own_story.draw(state)
    if measured is not None:
        _code(state, name, known)
    if not covered and own is not None:
        kit.seen(words.end, **end(name, measured, nearest(state["heat"])), **own)


def nearest(heat: float) -> float:
    """Return the measured temperature that is nearest to one that a link names."""
    return min(TEMPERATURES, key=lambda known: abs(known - heat))


def _own(state: kit.PageState, name: str) -> ModelErrors | None:
    """Measure a run of the learner, once asked for; what is known of it, or None."""
    bundled = kit.load(name)
    if bundled is None:
        return None
    kit.prose(words.unmeasured.format(stories=kit.count(STORIES, "story", "stories")))
    found: list[ModelErrors] = []

    def take(job: kit.Job) -> None:
        last = job.results[-1] if job.results else None
        if isinstance(last, ModelErrors):
            found.append(last)

    measure_live(state, "sure_measured", bundled, take, words)
    return found[0] if found else None


def shares(measured: ModelErrors, heat: float, against: str = CAME) -> tuple[float, float]:
    """Return how sure a model's guesses were on average, and how many of them were right."""
    at = TEMPERATURES.index(heat)
    held = measured.right if against == CAME else measured.true
    total = measured.counts[at].sum()
    return float(measured.sure[at].sum() / total), float(held[at].sum() / total)


def question(name: str, measured: ModelErrors) -> kit.Question:
    """Return the question whether a model is right as often as it is sure."""
    sure, right = shares(measured, 1.0)
    place = 0 if right - sure >= POINT else 2 if sure - right >= POINT else 1
    numbers = {"sure": kit.percent(sure), "right": kit.percent(right)}
    numbers["tokens"] = kit.count(measured.corpus.tokens, "token")
    numbers["model"] = kit.quote(kit.label(name))
    return kit.Question.rated(
        words.ask_sure, words.ask_sure_answers, place, words.ask_sure_reasons, **numbers
    )


def _chart(state: kit.PageState, name: str, measured: ModelErrors) -> None:
    heat, against = nearest(state["heat"]), state["against"]
    found = measured.reliability(heat, against)
    figure = reliability_chart(
        found.sure,
        found.right,
        found.counts,
        (words.points, words.equal, words.counts),
        (words.sure_axis, words.right_axis),
        kit.theme(),
    )
    kit.chart(figure, f"{KEY}.chart", bar=False)
    kit.prose(words.held_notes[against] + "\n\n" + chart_line(measured, heat, against))


def chart_line(measured: ModelErrors, heat: float, against: str) -> str:
    """Return what the chart says: the error, and on which side of the line the model is."""
    sure, right = shares(measured, heat, against)
    apart = sure - right
    verdict = "even" if abs(apart) < EVEN else "over" if apart > 0 else "under"
    return words.chart.format(
        heat=heat,
        error=kit.percent(measured.reliability(heat, against).error),
        spread=kit.percent(measured.spread(heat, against)),
        sure=kit.percent(sure),
        right=kit.percent(right),
        verdict=words.chart_verdict[verdict],
    )


def _heat(state: kit.PageState, name: str, measured: ModelErrors) -> None:
    kit.section(words.heat_section)
    lines = [errors_over(measured, against) for against in (CAME, TRUE)]
    figure = over_temperature(
        TEMPERATURES,
        lines,
        (words.line_came, words.line_true),
        nearest(state["heat"]),
        (measured.fitted, words.fitted),
        (words.heat_axis, words.error_axis),
        kit.theme(),
    )
    kit.chart(figure, f"{KEY}.heat", bar=False)
    kit.prose(fit_line(name, measured))


def errors_over(measured: ModelErrors, against: str) -> list[float]:
    """Return the calibration error at every temperature."""
    return [measured.reliability(heat, against).error for heat in TEMPERATURES]


def fit_line(name: str, measured: ModelErrors) -> str:
    """Return what the fitted temperature is and what it does, against the true probabilities."""
    near = nearest(measured.fitted)
    plain, fit = (measured.reliability(heat, TRUE).error for heat in (1.0, near))
    verdict = "equal" if abs(plain - fit) < SAME else "better" if fit < plain else "worse"
    return words.fit.format(
        to_fit=kit.count(TO_FIT, "story", "stories"),
        stories=kit.count(measured.corpus.stories, "story", "stories"),
        model=kit.quote(kit.label(name)),
        fitted=measured.fitted,
        near=near,
        at_one=measured.loss(1.0),
        at_fit=measured.loss(near),
        error_one=kit.percent(plain),
        error_fit=kit.percent(fit),
        verdict=words.fit_verdict[verdict],
    )


def _training(known: dict[str, ModelErrors]) -> None:
    if not known:
        return
    kit.section(words.training_section)
    kit.rows_table(rows(known), words.training_columns)
    if line := training_line(known):
        kit.prose(line)


def rows(known: dict[str, ModelErrors]) -> list[tuple[str, ...]]:
    """Return a row for each measured model: sure, right, both errors, the fitted temperature."""
    table = []
    for name, model in known.items():
        both = (
            f"{100 * model.reliability(1.0, against).error:.2f} ± "
            f"{100 * model.spread(1.0, against):.2f} %"
            for against in (CAME, TRUE)
        )
        table.append(
            (kit.label(name), *map(kit.percent, shares(model, 1.0)), *both, f"{model.fitted:.2f}")
        )
    return table


def training_line(known: dict[str, ModelErrors]) -> str:
    """Return how much surer than right five models are; nothing where one was not measured."""
    models = {
        "heart": "errors/by-heart",
        "smoothed": "errors/by-heart-smoothed",
        "learned": "since-2017/learned",
        "alone": "instructions-alone",
        "base": BASE,
    }
    if not set(models.values()) <= set(known):
        return ""
    points = {slot: points_apart(known[name]) for slot, name in models.items()}
    errors = {
        f"{slot}_error": kit.percent(known[models[slot]].reliability(1.0).error)
        for slot in ("heart", "smoothed")
    }
    return words.training_read.format(**points, **errors)


def points_apart(measured: ModelErrors) -> str:
    """Return sure minus right at T = 1, in points with a true minus sign."""
    text = f"{100 * measured.reliability(1.0).overconfident:.1f}"
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def end(name: str, measured: ModelErrors, heat: float) -> dict[str, Any]:
    """Return what the chapter ends with, of the measured model."""
    sure, right = shares(measured, heat)
    return {
        "stories": kit.count(measured.corpus.stories, "held-out story", "held-out stories"),
        "model": kit.quote(kit.label(name)),
        "sure": kit.percent(sure),
        "right": kit.percent(right),
        "error": kit.percent(measured.reliability(heat).error),
        "heat": heat,
    }


def _code(state: kit.PageState, name: str, known: dict[str, ModelErrors]) -> None:
    if name not in known:
        return
    heat, against = nearest(state["heat"]), state["against"]
    found = known[name].reliability(heat, against)
    kit.show_code(
        [reliability, fit_temperature],
        words.snippet.format(name=name, heat=heat, against=against),
        f"{found.counts.astype(int)}\n{found.error:.4f} {known[name].fitted:.3f}",
    )
