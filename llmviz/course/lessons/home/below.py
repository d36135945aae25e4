"""What stands below the machine: questions, code, the lessons, the models, the device."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from llmviz.course.lessons import LESSONS
from llmviz.course.lessons.home import words
from llmviz.course.lessons.home.machine import Reading
from llmviz.course.lessons.home.sentence import Sentence, token_text
from llmviz.course.ui import course, engine, kit
from llmviz.course.ui.contents import COURSE, HOUR, WAY

LISTED_IN_CODE = 5
CHANGE = "home.change"


@dataclass(frozen=True)
class OnScreen:
    """What the machine shows at the moment: of which model, which tokens, which layer and head."""

    bundled: engine.Bundled
    window: Sentence
    reading: Reading
    layer: int
    head: int

    def name(self, token: int) -> str:
        """A token, harmless inside a sentence."""
        return kit.quote(token_text(token, self.bundled.tokenizer)[0])


def sum_question(screen: OnScreen) -> kit.Question | None:
    """Return what the weights of the last row add up to, as a question; None for one token."""
    row = np.append(
        screen.reading.weights[screen.layer, screen.head, -1],
        screen.reading.earlier[screen.layer, screen.head, -1],
    )
    count = min(len(screen.window.ids), screen.bundled.model.config.window or math.inf)
    if count < 2:
        return None
    largest = np.sort(row)[::-1][:2]
    parts = [f"{weight:.3f}" for weight in largest]
    if count > 2:
        parts.append(f"{row.sum() - largest.sum():.3f}")
    whole = f"{row.sum():.3f}"
    case = "others" if count > 2 else "all"
    total = kit.local(words.sums[case].format(parts=" + ".join(parts), whole=whole))
    if f"{sum(map(float, parts)):.3f}" != whole:
        total += words.rounded
    known = {
        "layer": screen.layer,
        "head": screen.head,
        "token": screen.name(screen.window.ids[-1]),
        "count": count,
        "largest": kit.local(f"{largest[0]:.3f}"),
        "sum": total,
    }
    return kit.Question.of(words.sum_question, **known)


def change_question(screen: OnScreen, other: int, changed: Reading | None = None) -> kit.Question:
    """Return which rows change with the last token, as a question.

    changed: the forward pass with the token `other` in the place of the last. Without it the
    reasons have no numbers; they are read only after an answer.
    """
    rows = screen.reading.vectors.shape[1]
    difference = np.full(rows, np.nan)
    if changed is not None:
        difference = np.abs(changed.vectors - screen.reading.vectors).max(axis=(0, 2))  # (R,)
    known = {
        "token": screen.name(screen.window.ids[-1]),
        "other": screen.name(other),
        "count": rows,
        "earlier": rows - 1,
        "before": kit.local(f"{difference[:-1].max():.4g}"),
        "after": kit.local(f"{difference[-1]:.4g}"),
    }
    return kit.Question.of(words.change_question, **known)


def expected_instead(screen: OnScreen) -> int:
    """Return the token that is most probable to the model in the place of the last one."""
    best = screen.reading.top_ids[-2]
    return int(next(token for token in best if token != screen.window.ids[-1]))


def questions(screen: OnScreen, changed: Callable[[OnScreen], Reading]) -> None:
    """Ask what the picture can answer.

    changed: returns the forward pass with the token of `expected_instead` in the place of the last.
    A model with a mistake built into its mask is asked nothing: other answers are right for it.
    """
    config = screen.bundled.model.config
    first = kit.Guess("home.sum", sum_question(screen))
    if first.question is None or config.mask != "causal" or config.softmax_before_mask is not None:
        return
    kit.section(words.questions)
    first.ask()
    if len(screen.window.ids) < 3:  # nothing to compare
        return
    other = expected_instead(screen)
    asked = change_question(screen, other)
    if kit.Guess(CHANGE, asked).open:
        asked = change_question(screen, other, changed(screen))
    kit.Guess(CHANGE, asked).ask()


def code(screen: OnScreen) -> None:
    """Show the functions that ran, and a snippet that prints the same predictions."""
    from llmviz.course.lessons.home.machine import read
    from llmviz.models.gpt import GPT, Block
    from llmviz.nn.attention import attention
    from llmviz.sampling.steps import softmax

    kit.section(words.code)
    kit.show_code(
        [GPT.forward, Block.forward, attention, softmax, read],
        snippet(screen),
        predictions(screen),
        label=words.code_label,
    )


def snippet(screen: OnScreen) -> str:
    """Return Python that runs by itself and prints the model's five best predictions."""
    text, length = screen.window.text, screen.bundled.model.context_length
    ids = f"tokenizer.encode_from_start({text!r})"
    if len(text) > kit.IN_SNIPPET:
        ids = f"{list(screen.window.ids)}"
    return words.snippet.format(
        name=screen.bundled.name, ids=ids, length=length, listed=LISTED_IN_CODE
    )


def predictions(screen: OnScreen) -> str:
    """Return what the snippet prints, from the numbers that the picture shows."""
    best = zip(screen.reading.top_ids[-1], screen.reading.top_probabilities[-1], strict=True)
    lines = [
        f"{token:6d}  {screen.bundled.tokenizer.token_bytes(int(token))!r:16}  {probability:.3f}"
        for token, probability in best
    ]
    return "\n".join(lines[:LISTED_IN_CODE])


def lessons() -> list[kit.Lesson]:
    """Return the lessons that a part of the picture leads to, in their order."""
    return [lesson for lesson in LESSONS if lesson.names]


def start(state: kit.PageState) -> None:
    """Show the buttons that lead to the first stop of the hour, and to a training at once."""
    if st.button(words.start, type="primary", icon=":material/play_arrow:"):
        state["end"], state["guessed"] = False, ""
        set_out(state, HOUR, course.first_stop(HOUR))
    if st.button(words.teach, icon=":material/model_training:"):
        course.open_place("training/teach")


def way_through(state: kit.PageState) -> None:
    """Show the hour with each of its stops; the longer ways wait behind a line."""
    kit.section(words.lessons)
    _stops(state, HOUR)
    with st.expander(words.longer, icon=":material/route:", expanded=state[WAY.key] == COURSE):
        st.segmented_control(words.way_label, required=True, **state.named(WAY.key, words.ways))
        if state[WAY.key] != HOUR:
            _stops(state, state[WAY.key])
    tests()


def tests() -> None:
    """Lead to the two tests."""
    kit.prose(words.tests)
    st.page_link("pages/before_after.py", label=words.tests_label, icon=":material/checklist:")


def _stops(state: kit.PageState, way: str) -> None:
    chapters, minutes = course.totals(way)
    kit.prose(words.way_text[way], chapters=chapters, time=course.time_of(minutes))
    if place := course.path(way):
        set_out(state, way, place)


def set_out(state: kit.PageState, way: str, place: str) -> None:
    state[WAY.key] = way
    course.open_place(place)


def models() -> None:
    """Say where all models are listed, what is damaged, and on what they run."""
    for name in engine.names():
        try:
            engine.card(name)
        except ValueError as error:
            kit.refuse(error)
    if not engine.names():
        st.caption(words.no_model_short)
    kit.prose(words.more_models)
    late = words.device_later
    st.caption(words.device.format(device=engine.device()) if engine.ready() else late)
