"""Chapter "Teach": a new model learns one paragraph while you look, and the curve of that."""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.document.marks import cleared
from llmviz.course.lessons.training.teach import model, words
from llmviz.course.lessons.training.teach.model import Taught
from llmviz.course.ui import kit
from llmviz.course.ui.guess_drawn import HANDS

KEY, GUESS = "training.teach", "training.teach.curve"
KNOWN = 30  # steps of the curve that are drawn before the question
PLACES = 10  # at which the rest is drawn by hand
APART = 0.08  # of the axis, on average, between the answers of the question
NEEDS = "llmviz.models.gpt"  # what takes long to import before a start
job_of = kit.job_of("llmviz.course.lessons.training.teach.model:teach", "text")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the box, what the model writes and its curve, then what goes deeper."""
    kit.training_jobs().warm_up(NEEDS)
    kit.prose(words.hook)
    text: str = state["taught"]
    results: list[Any] = []
    # For a link that shows everything, and where the page is read without a browser.
    at_once = text == words.paragraph and (state["show"] == "1" or HANDS in st.session_state)

    def taught(job: kit.Job) -> None:
        results[:] = job.results
        if results:
            _stage(text, results)

    with kit.stage("teach"):
        waits = state.setter(teaching=False)
        kit.text_area(state, "taught", words.box, waits, height=110)
        if kit.or_refused(model.checked, text) is None:
            return
        if at_once:
            results += shown()
            _stage(text, results)
        else:
            kit.live(
                state,
                "teaching",
                job_of,
                (text,),
                taught,
                start=words.start,
                share=lambda job: job.results[-1].step / model.STEPS if job.results else 0.0,
                said=kit.JobWords(words.going_on, words.stopped, words.again),
            )
    if results or state["teaching"]:
        kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.intro)
    if results:
        kit.measured(words.measured, **measured(text, results))
    if results and results[-1].step == model.STEPS:
        kit.show_code(
            [model.teach],
            words.snippet.format(text=text),
            f"{results[-1].step} {results[-1].loss:.2f}",
        )
        kit.seen(words.end, told=words.told["taught"].format(**summary(results)))
    else:
        kit.seen(words.end, told=words.told["waits"].format(steps=model.STEPS))


@kit.cached(3)
def shown() -> tuple[Taught, ...]:
    """Return what becomes of the page's own paragraph, for a link that shows everything."""
    return tuple(model.teach(words.paragraph))


def _stage(text: str, results: Sequence[Taught]) -> None:
    whole = results[-1].step == model.STEPS
    guess = kit.Guess(GUESS, question(text, results) if whole else None)
    with kit.stage("taught"):  # a guess runs what is drawn of the job again, and no more
        left, right = st.columns([5, 4], gap="medium")
        with left:
            for point in results:
                if point.wrote is not None:
                    label = words.after["later" if point.step else "first"].format(step=point.step)
                    kit.prose(kit.run_on([label, lit(point.wrote, text)]))
        with right:
            _curve(text, results, guess)
        guess.ask()
    revealed = guess.question is not None and guess.open
    kit.prose(words.caption["told" if revealed else "going"], **summary(results))


def lit(wrote: str, text: str) -> str:
    """Return what a model wrote, with the words in bold that stand in the learner's text."""
    known = set(re.findall(r"\w+", text))
    pieces = re.split(r"(\w+)", cleared(wrote))
    return "".join(kit.bold(piece) if piece in known else piece for piece in pieces)


def summary(results: Sequence[Taught]) -> dict[str, float]:
    return {
        "steps": results[-1].step,
        "first": results[0].loss,
        "last": results[-1].loss,
        "numbers": results[-1].numbers,
    }


def measured(text: str, results: Sequence[Taught]) -> dict[str, float]:
    return {
        "layers": model.LAYERS,
        "numbers": results[0].numbers,
        "rows": model.ROWS,
        "window": model.WINDOW,
        "letters": len(model.letters_of(text)),
        "care": model.CARE,
    }


def _curve(text: str, results: Sequence[Taught], guess: kit.Guess) -> None:
    """Draw the loss up to where the hand goes on, and all of it once that is told."""
    blind = math.log(len(model.letters_of(text)))
    x, y = points(results)
    whole = kit.Drawn(words.line, x, y, "loss")
    guess.line(
        [],
        whole if guess.question else kit.Drawn(words.line, x[: _known()], y[: _known()], "loss"),
        kit.Scale(0, model.STEPS, words.step),
        kit.Scale(0, 1.1 * max(blind, results[0].loss), words.axis),
        known=_known(),
        picture=f"{KEY}.curve",
        levels=[(blind, words.blind)],
    )


def _known() -> int:
    return KNOWN // model.POINT + 1


def points(results: Sequence[Taught]) -> tuple[list[int], list[float]]:
    """Return steps and losses: all of the beginning, and of what comes later some places that lie
    evenly."""
    later = range(_known(), len(results))
    if len(later) > PLACES:
        later = np.linspace(_known(), len(results) - 1, PLACES).round().astype(int).tolist()
    kept = [results[i] for i in [*range(min(_known(), len(results))), *later]]
    return [point.step for point in kept], [point.loss for point in kept]


def question(text: str, results: Sequence[Taught]) -> kit.Question | None:
    """Return the question how the loss goes on; None where two of the answers are nearly the same.

    The wrong answers are those of a ruler laid along the beginning, and of somebody to whom the
    bend is past.
    """
    steps, losses = (np.array(part) for part in points(results))
    later, truth = steps[_known() :], losses[_known() :]
    last = losses[_known() - 1]
    slope = (last - losses[0]) / steps[_known() - 1]
    lines = {
        "truth": truth,
        "level": np.full(later.size, last),
        "ruler": np.maximum(0, last + slope * (later - steps[_known() - 1])),
    }
    near = APART * losses[0]
    for name in ("level", "ruler"):
        if np.abs(lines[name] - truth).mean() < near:
            del lines[name]
    if len(lines) < 2:
        return None
    about = {"known": KNOWN, "at": last, "blind": math.log(len(model.letters_of(text)))}
    about |= summary(results)
    return kit.Question(
        words.ask.format(**about),
        [words.ask_answers[name] for name in lines],
        0,
        [words.ask_reasons[name].format(**about) for name in lines],
        values=[tuple(map(float, line)) for line in lines.values()],
    )
