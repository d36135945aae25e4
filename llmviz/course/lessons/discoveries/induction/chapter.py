"""Chapter "A head learns to copy": attention alone on letters that repeat, with one layer and two.

T letters of a text, L layers, H heads.
"""

from math import log
from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.lessons.discoveries.induction import (
    curves,
    film,
    own,
    product,
    story,
    words,
    yours,
)
from llmviz.course.lessons.discoveries.induction.induction_record import (
    COMMAND,
    ONE,
    TWO,
    card,
    learned,
    model_at,
)
from llmviz.course.ui import kit
from llmviz.interpretability.induction import (
    HEADS,
    LETTERS,
    LONGEST,
    SHORTEST,
    STEPS,
    T,
    V,
    diagonal,
    draw_texts,
    pair_of,
)

KEY = "discoveries.induction"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    try:
        two_layers, one_layer = card(TWO)["parameters"], card(ONE)["parameters"]
    except ValueError:
        st.info(words.missing, icon=":material/download:")
        st.code(COMMAND, language=None)
        return
    kit.prose(words.example, text=kit.quote(example()))
    kit.prose(words.drawn, shortest=SHORTEST, longest=LONGEST, length=T)
    kit.prose(words.models, heads=HEADS, two=two_layers, one=one_layer, steps=STEPS)
    opened = kit.predict(question(), f"{KEY}.one", covers=True)
    if opened:
        curves.draw()
        film.draw(state)
        product.draw(state)
        _code(state)
        yours.draw(state)
        story.draw(state)
    own.draw(state, opened=opened)
    if opened:
        kit.seen(words.end, **(ends() | end_numbers()))


@kit.kept(1)
def example() -> str:
    """Return a text as the models read it."""
    text, _ = draw_texts(1, np.random.default_rng(0))
    return "".join(LETTERS[token] for token in text[0])


def ends() -> dict[str, str]:
    """Return the losses of both models on letters that repeat at the end, as they are written."""
    return {
        "two": f"{learned(TWO).last.repeat_loss:.2f}",
        "one": f"{learned(ONE).last.repeat_loss:.2f}",
    }


def end_numbers() -> dict[str, Any]:
    """Return when most of the fall came, and the highest score of a head of each layer."""
    run = learned(TWO)
    loss, last = run.curve("repeat_loss"), run.last
    since = np.flatnonzero(loss >= 0.8 * loss[0])[-1]
    until = np.flatnonzero(loss <= 0.2 * loss[0])[0]
    return {
        "since": run.moments[since].step,
        "until": run.moments[until].step,
        "steps": last.step,
        "previous": kit.percent(float(last.previous[0].max())),
        "induction": kit.percent(float(last.induction[1].max())),
    }


def question() -> kit.Question:
    """Return the question what the model of one layer comes to."""
    slots = ends() | {"guess": f"{log(V):.2f}", "letters": V}
    return kit.Question.rated(
        words.ask_one, words.ask_one_answers, 1, words.ask_one_reasons, **slots
    )


def _code(state: kit.PageState) -> None:
    first, second = state["copyfirst"], state["copysecond"]
    pair = pair_of(model_at(), first, second)
    kit.show_code(
        [pair_of],
        "from llmviz.interpretability.induction import diagonal, pair_of\n"
        "from llmviz.course.lessons.discoveries.induction.induction_record import model_at\n\n"
        f"pair = pair_of(model_at(), {first}, {second})\n"
        "print(pair.match.shape, diagonal(pair.match), diagonal(pair.copies))",
        f"{pair.match.shape} {diagonal(pair.match)} {diagonal(pair.copies)}",
    )
