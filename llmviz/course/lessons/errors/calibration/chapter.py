"""Chapter "Is it as sure as it is right?": reliability, temperature scaling, what training does.

The last part asks it of the learner's own text. B bins.
"""

import math
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.figures.calibration import over_temperature
from llmviz.course.lessons.errors.calibration import words
from llmviz.course.lessons.errors.calibration.model import (
    CHARACTERS,
    SEEDS,
    SMOOTHING,
    SmoothedRuns,
    recorded,
)
from llmviz.course.lessons.errors.measured import known_errors, measure_live
from llmviz.course.lessons.errors.model_errors import CAME, STORIES, TO_FIT, TRUE, ModelErrors
from llmviz.course.lessons.errors.story import (
    ALSO,
    ReadStory,
    divided_of,
    guesses_on,
    logits_of,
    read_story,
    reads_stories,
    story_box,
    story_text,
    within_context,
)
from llmviz.course.ui import engine, kit
from llmviz.evaluation.calibration import TEMPERATURES, fit_temperature, reliability
from llmviz.evaluation.exact_loss import log_softmax
from llmviz.evaluation.text_loss import target_logits

ENDS = (0.05, 20.0)  # of the fitted temperatures


def draw_own_story(state: kit.PageState) -> bool:
    """Show the section on the learner's story; return whether something could be said of it."""
    kit.section(words.own_section)
    story_box(state)
    bundled = kit.load(kit.Picker(fits=kit.continues, also=ALSO).choose(state))
    if bundled is None:
        return False
    if reads_stories(bundled.card):
        story = read_story(state, bundled)
        numbers = None if story is None else own_numbers(story)
    else:
        numbers = numbers_without_truth(state, bundled)
    if numbers is None:
        return False
    how = "true" if "true" in numbers else "came"
    kit.prose(words.own[how].format(**numbers))
    at_end = any(math.isclose(numbers["fitted"], end, rel_tol=0.01) for end in ENDS)
    kit.measured(words.how_own[how].format(**numbers) + words.own_end_of_range * at_end)
    return True


def own_numbers(story: ReadStory) -> dict[str, Any]:
    """Return the calibration on a story, and the temperature that fits it best."""
    guesses = guesses_on(story.bundled, story.text)
    sure = guesses.confidence[guesses.at(1.0)]
    return {
        **came_numbers(story.bundled, sure, guesses.right),
        "true": off(reliability(sure, guesses.true).error),
        "fitted": fitted_to(story.bundled, story.text),
    }


def came_numbers(bundled: engine.Bundled, sure: np.ndarray, right: np.ndarray) -> dict[str, Any]:
    """Return how sure the guesses (T,) were, how many right, and the error of both."""
    return {
        "tokens": kit.count(len(sure), "token"),
        "model": kit.quote(kit.label(bundled.name)),
        "came": off(reliability(sure, right).error),
        "sure": kit.percent(float(sure.mean())),
        "right": kit.percent(float(right.mean())),
    }


def off(error: float) -> str:
    """Return a distance between shares, which is in points and not in percent."""
    return f"{100 * error:.2f} points"


def numbers_without_truth(state: kit.PageState, bundled: engine.Bundled) -> dict[str, Any] | None:
    """Return the calibration of a model whose tokens have no known truth; None without a text."""
    text = story_text(state)
    if text is None:
        return None
    try:
        ids, sure, right, fitted = read_without_truth(bundled, text)
    except ValueError as error:
        kit.refuse(error)
        return None
    within_context(ids, bundled)
    return {**came_numbers(bundled, sure, right), "fitted": fitted}


@kit.cached(64)
def read_without_truth(
    bundled: engine.Bundled, text: str
) -> tuple[int, np.ndarray, np.ndarray, float]:
    """Return how many tokens a text has, and of the T that the model reads: how sure, how right.

    Last, the temperature with the lowest loss on them.
    """
    ids = bundled.tokenizer.encode(text)
    read = bundled.tokenizer.behind_start(ids[: bundled.model.context_length])
    targets = np.array(read[1:])  # without a start token nothing stands before the first
    if not len(targets):
        raise ValueError(ONE_TOKEN)
    logits = target_logits(bundled.model, read)
    sure = np.exp(log_softmax(logits)).max(-1)
    right = logits.argmax(-1) == targets
    return len(ids), sure, right, fit_temperature(logits, targets)


@kit.cached(64)
def fitted_to(bundled: engine.Bundled, text: str) -> float:
    """Return the temperature with the lowest loss on a story."""
    return fit_temperature(logits_of(bundled, text), divided_of(bundled, text).ids)


KEY = "errors.calibration"
ONE_TOKEN = "this model needs a text of at least two tokens"
GUESS = f"{KEY}.line"
TWIN = (
    "since-2017/learned"  # trained as "errors/by-heart" is, on a text that it hardly ever repeats
)
FAR = 0.1  # surer than right, the mean of all bins: below, no line is asked for
EVEN = 0.005  # sure and right that are nearer count as equal
SAME = 0.0005  # calibration errors that differ by less count as equal


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show how often guesses were right by how sure the model was, and what changes it."""
    kit.prose(words.hook)
    known = known_errors()
    names = [*known, *kit.offered(reads_stories, state["sure_model"])]
    if not names:
        return
    name = kit.keep(state, "sure_model", names)
    measured = known.get(name)
    guess = kit.Guess(GUESS, None if measured is None else question(name, measured))
    opened = guess.open
    with kit.stage("sure"):
        if measured is not None:
            _picture(state, name, known, guess, opened=opened)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            st.selectbox(
                words.model, names, format_func=kit.label, width=280, **state.bind("sure_model")
            )
            if opened:
                st.slider(words.heat, step=0.1, width=260, **state.ranged("heat"))
                kit.choose(state, "against", words.against, words.held_against)
        if measured is None and (measured := _own(state, name)) is not None:
            _picture(state, name, {name: measured}, kit.Guess(GUESS, None), opened=True)
        if opened and measured is not None:
            kit.prose(caption(measured, nearest(state["heat"]), state["against"]))
    guess.ask()
    if opened:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_case("knows", words.real, knowsland="Turkey")
        if measured is not None:
            _heat(state, measured)
        _training(known)
        _smoothing()
    own = draw_own_story(state)
    if name in known:
        _code(state, name, known[name])
    if opened and measured is not None and own:
        kit.seen(words.end, **end(measured, nearest(state["heat"])))


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
    return float(measured.confidence[at].sum() / total), float(held[at].sum() / total)


def points(measured: ModelErrors, heat: float, against: str) -> tuple[list[float], list[float]]:
    """Return how sure the model was in each bin that has guesses, and which share was right."""
    found = measured.reliability(heat, against)
    full = found.counts > 0
    return found.confidence[full].tolist(), found.right[full].tolist()


def question(name: str, measured: ModelErrors) -> kit.Question | None:
    """Return the question where a model's line runs; None where it is hardly below the diagonal.

    The wrong answers are those of somebody to whom a probability is always right, and to whom new
    stories make a model shy.
    """
    sure, right = (np.array(values) for values in points(measured, 1.0, CAME))
    if (sure - right).mean() < FAR:
        return None
    lines = {"over": right, "even": sure, "under": np.clip(2 * sure - right, 0, 1)}
    values = {how: tuple(line[1:].tolist()) for how, line in lines.items()}
    return kit.Question(
        words.ask,
        [words.ask_answers[how] for how in values],
        0,
        [words.ask_reasons[how] for how in values],
        values=list(values.values()),
    )


def _picture(
    state: kit.PageState,
    name: str,
    known: dict[str, ModelErrors],
    guess: kit.Guess,
    *,
    opened: bool,
) -> None:
    heat, against = (nearest(state["heat"]), state["against"]) if opened else (1.0, CAME)
    others = {TWIN: known[TWIN]} if TWIN in known and name != TWIN else {}
    guess.line(
        [
            kit.Drawn(words.equal, (0, 1), (0, 1), "residual", dashed=True),
            *(
                kit.Drawn(kit.label(other), *points(model, heat, against), "key")
                for other, model in others.items()
            ),
        ],
        kit.Drawn(kit.label(name), *points(known[name], heat, against), "weights"),
        kit.Scale(0, 1, words.sure_axis),
        kit.Scale(0, 1, words.right_axis),
        known=1,
        picture=f"{KEY}.picture",
        form="percent",
    )


def caption(measured: ModelErrors, heat: float, against: str) -> str:
    """Return what the picture says: the error, and on which side of the line the model is."""
    sure, right = shares(measured, heat, against)
    verdict = "even" if abs(sure - right) < EVEN else "over" if sure > right else "under"
    return words.caption.format(
        heat=heat,
        error=off(measured.reliability(heat, against).error),
        sure=kit.percent(sure),
        right=kit.percent(right),
        verdict=words.caption_verdict[verdict],
        held=words.held_notes[against],
    )


def _heat(state: kit.PageState, measured: ModelErrors) -> None:
    kit.section(words.heat_section)
    figure = over_temperature(
        TEMPERATURES,
        [errors_over(measured, against) for against in (CAME, TRUE)],
        (words.line_came, words.line_true),
        nearest(state["heat"]),
        (measured.fitted, words.fitted),
        (words.heat_axis, words.error_axis),
        kit.theme(),
    )
    kit.chart(figure, f"{KEY}.heat", bar=False)
    kit.prose(fit_line(measured))
    spread = off(measured.spread(nearest(state["heat"]), state["against"]))
    kit.measured(words.how_fit, spread=spread, **how_fit(measured))


def errors_over(measured: ModelErrors, against: str) -> list[float]:
    """Return the calibration error at every temperature."""
    return [measured.reliability(heat, against).error for heat in TEMPERATURES]


def fit_line(measured: ModelErrors) -> str:
    """Return what the fitted temperature is and what it does, against the true probabilities."""
    near = nearest(measured.fitted)
    plain, fit = (measured.reliability(heat, TRUE).error for heat in (1.0, near))
    verdict = "equal" if abs(plain - fit) < SAME else "better" if fit < plain else "worse"
    errors = {"error_one": off(plain), "error_fit": off(fit), "near": near}
    said = words.fit_verdict[verdict].format(**errors)
    return words.fit.format(fitted=measured.fitted, verdict=said)


def how_fit(measured: ModelErrors) -> dict[str, Any]:
    """Return the stories and the losses by which the temperature was found."""
    near = nearest(measured.fitted)
    return {
        "to_fit": kit.count(TO_FIT, "story", "stories"),
        "stories": kit.count(measured.corpus.stories, "story", "stories"),
        "near": near,
        "at_one": measured.loss(1.0),
        "at_fit": measured.loss(near),
    }


def _training(known: dict[str, ModelErrors]) -> None:
    if not known:
        return
    kit.section(words.training_section)
    cases = [
        kit.Case(
            kit.label(name),
            found.error,
            around(found.error, model.spread(1.0)),
            note=kit.percent(found.error),
        )
        for name, model in known.items()
        for found in [model.reliability(1.0)]
    ]
    top = 1.1 * max(case.interval[1] for case in cases if case.interval)
    axis = kit.Axis(0, top, words.error_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.models", mark="dot")
    kit.prose(words.training_read)
    kit.measured(words.how_training)


def around(value: float, error: float) -> tuple[float, float]:
    """Return the 95 % interval around a value that is not below 0, by its standard error."""
    return max(0.0, value - 1.96 * error), value + 1.96 * error


def _smoothing() -> None:
    known = kit.or_refused(recorded)
    if known is None:
        return
    kit.section(
        words.smoothing_section,
        share=kit.whole_percent(SMOOTHING[1]),
        seeds=len(SEEDS),
    )
    cases = [
        kit.Case(label, known.mean(rate, what)[0], dots=known.values(rate, what).tolist())
        for what, labels in (("confidence", words.smoothed_sure), ("right", words.smoothed_right))
        for rate, label in zip(SMOOTHING, labels, strict=True)
    ]
    axis = kit.Axis(0, 1, words.smoothed_axis)
    kit.case_rows(cases, axis, key=f"{KEY}.smoothed", mark="dot")
    kit.prose(smoothed_line(known))
    kit.measured(words.how_smoothed, characters=CHARACTERS, passes=known.passes)


def smoothed_line(known: SmoothedRuns) -> str:
    """Return what label smoothing does to the calibration error and to the loss."""
    true, loss = (
        [known.mean(rate, name)[0] for rate in SMOOTHING] for name in ("true_error", "loss")
    )
    of_error, of_loss = verdict(known, "true_error"), verdict(known, "loss")
    said = words.smoothed_again if of_loss == of_error else words.smoothed_verdict
    return words.smoothed_read.format(
        true_plain=off(true[0]),
        true_smoothed=off(true[1]),
        true_verdict=words.smoothed_verdict[of_error],
        loss_plain=loss[0],
        loss_smoothed=loss[1],
        loss_verdict=said[of_loss],
    )


def verdict(known: SmoothedRuns, name: str) -> str:
    """Return the key of whether all models of one kind have more than all of the other."""
    plain, smoothed = (known.values(rate, name) for rate in SMOOTHING)
    lower, higher = smoothed.max() < plain.min(), smoothed.min() > plain.max()
    return "lower" if lower else "higher" if higher else "tie"


def end(measured: ModelErrors, heat: float) -> dict[str, Any]:
    sure, right = shares(measured, heat)
    return {
        "stories": kit.count(measured.corpus.stories, "held-out story", "held-out stories"),
        "sure": kit.percent(sure),
        "right": kit.percent(right),
        "heat": heat,
    }


def _code(state: kit.PageState, name: str, measured: ModelErrors) -> None:
    heat, against = nearest(state["heat"]), state["against"]
    found = measured.reliability(heat, against)
    kit.show_code(
        [reliability, fit_temperature],
        words.snippet.format(name=name, heat=heat, against=against),
        f"{found.counts.astype(int)}\n{found.error:.4f} {measured.fitted:.3f}",
    )
