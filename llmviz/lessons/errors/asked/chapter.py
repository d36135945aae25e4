"""Chapter "One word more": one question in many ways, a fact in many places, long texts.

W ways to ask, K people of a story.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.figures.lines import Line, lines
from llmviz.figures.theme import Mode
from llmviz.lessons.errors.asked import examples, longer, own, words
from llmviz.study.moved_answers import (
    COMMAND,
    FILLERS,
    MODEL,
    PLAIN,
    WAYS,
    Asked,
    Moved,
    Place,
    answers,
    recorded,
)
from llmviz.training.measures import Share
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.common import percent, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section, seen
from llmviz.ui.model_picker import models_here
from llmviz.ui.notices import inform, or_refused
from llmviz.ui.prose import prose, quote
from llmviz.ui.question import Question, predict, share_question
from llmviz.ui.selectable_models import load
from llmviz.ui.state import PageState
from llmviz.ui.table import rows_table
from llmviz.ui.text_field import text_input

KEY = "errors.asked"
SHOWN = 90  # characters of a prompt's end
MOVING = "wrong first"  # the way that the question is about


def ahead() -> None:
    """Find the stories that the chapter asks about, which takes a second the first time."""
    if MODEL in engine.names():
        examples.stories(engine.version(MODEL))


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro, model=MODEL)
    if not models_here(MODEL):
        return
    bundled = load(MODEL)
    if bundled is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.number_input(words.story, step=1, width=120, **state.ranged("askedstory"))
        text_input(state, "askedbefore", words.sentence)
    number, sentence = state["askedstory"], state["askedbefore"].strip()
    chosen = examples.stories(bundled.version)[number - 1]
    chances = or_refused(examples.answered, bundled.version, number, sentence)
    if chances is None:
        return
    story = example(chosen, chances)
    _example(chosen, sentence, chances, story)
    longest = max(examples.prompts(chosen, sentence), key=len)
    if len(bundled.tokenizer.encode_from_start(longest)) > bundled.model.context_length:
        inform(words.too_long, ":material/content_cut:")
    _code(chosen, sentence, chances)
    own.draw(state, bundled)
    measured = or_refused(recorded)
    if measured is None:
        return
    over = _over(measured)
    _place(measured)
    longer.draw()
    if over is not None:
        seen(words.end, **story, **over)


def example(asked: Asked, chances: np.ndarray) -> dict[str, Any]:
    """Return what is said of one story: which answers are wrong, and what the sentence did."""
    return {
        "ways": len(chances),
        "wrong": int((chances.argmax(-1) != 0).sum()),
        "own": percent(float(chances[-1, 0])),
    }


def _example(asked: Asked, sentence: str, chances: np.ndarray, story: dict[str, Any]) -> None:
    st.text(asked.story)
    names = [*(words.ways[name] for name in WAYS), words.own_way]
    people = (asked.right, *asked.others)
    table = [
        (name, f"… {prompt[-SHOWN:]}", people[int(row.argmax())], percent(float(row[0])))
        for name, prompt, row in zip(names, examples.prompts(asked, sentence), chances, strict=True)
    ]
    rows_table(table, words.example_columns)
    prose(
        words.example_read.format(
            right=quote(asked.right),
            thing=asked.thing,
            plain=percent(float(chances[list(WAYS).index(PLAIN), 0])),
            **story,
        )
    )


def _over(measured: Moved) -> dict[str, Any] | None:
    """Show the section on all stories; return its numbers, None while the question covers them."""
    ways = measured.ways
    section(words.over, stories=ways[PLAIN].stories, command=COMMAND)
    if not predict(question(measured), f"{KEY}.order", covers=True):
        return None
    rows_table(over_rows(measured), words.over_columns)
    numbers = over_numbers(measured)
    prose(words.over_read.format(**numbers))
    return {name: numbers[name] for name in ("stories", "plain", "most", "moved")}


def over_rows(measured: Moved) -> list[tuple[str, ...]]:
    """Return a row for each way: share right with its interval, and how many answers moved."""
    table = []
    for name, way in measured.ways.items():
        low, high = Share(way.right, way.stories).interval
        moved = ("", "") if name == PLAIN else (f"{way.broken:,}", f"{way.mended:,}")
        share = percent(way.right / way.stories)
        table.append((words.ways[name], share, f"{percent(low)} – {percent(high)}", *moved))
    return table


def over_numbers(measured: Moved) -> dict[str, Any]:
    """Return which way moves most answers and which the fewest, and how the plain one does."""
    others = {name: way for name, way in measured.ways.items() if name != PLAIN}
    most = max(others, key=lambda name: others[name].moved)
    least = min(others, key=lambda name: others[name].moved)
    plain = measured.ways[PLAIN]
    return {
        "stories": plain.stories,
        "plain": percent(plain.right / plain.stories),
        "most": words.ways[most],
        "moved": others[most].moved,
        "least": words.ways[least],
        "few": others[least].moved,
    }


def question(measured: Moved) -> Question:
    """Return the question how many answers move when the wrong option stands first."""
    way = measured.ways[MOVING]
    share = way.moved / way.stories
    numbers = {"moved": percent(share), "broken": way.broken, "mended": way.mended}
    reasons = [one.format(**numbers) for one in words.ask_order_reasons]
    return share_question(words.ask_order.format(stories=way.stories), share, reasons, percent)


def _place(measured: Moved) -> None:
    stories = measured.places[0].stories
    section(words.place, fillers=FILLERS, stories=stories)
    st.plotly_chart(
        place_figure(theme()), key=f"{KEY}.place", theme=None, config={"displayModeBar": False}
    )
    prose(place_line(measured.places))


@kept(2)
def place_figure(mode: Mode) -> go.Figure:
    """Return the share of right answers by place, with its interval."""
    places = recorded().places
    x = [one.before for one in places]
    ends = np.array([Share(one.right, one.stories).interval for one in places])
    drawn = [
        Line(words.place_line, x, [one.right / one.stories for one in places], 0),
        Line(words.place_low, x, ends[:, 0], 6, dashed=True),
        Line(words.place_low, x, ends[:, 1], 6, dashed=True),
    ]
    axes = (words.place_axis, words.share_axis)
    figure = lines(drawn, axes, mode, level=(0.5, words.guess), hover="%{y:.1%}", ticks=x)
    figure.data[2].showlegend = False
    figure.update_layout(yaxis_tickformat=".0%")
    return figure


def place_line(places: list[Place]) -> str:
    """Return where the fact is found most and least often, and whether that may be chance."""
    best = max(places, key=lambda one: one.right)
    worst = min(places, key=lambda one: one.right)
    low = Share(best.right, best.stories).interval[0]
    high = Share(worst.right, worst.stories).interval[1]
    return words.place_read.format(
        best=best.before,
        best_share=percent(best.right / best.stories),
        worst=worst.before,
        worst_share=percent(worst.right / worst.stories),
        verdict=words.place_verdict["apart" if low > high else "tie"],
    )


def _code(asked: Asked, sentence: str, chances: np.ndarray) -> None:
    prompt = examples.prompts(asked, sentence)[-1]
    show_code(
        [answers],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.study.moved_answers import Asked, answers\n\n"
        f"model, tokenizer, card = load_bundled({MODEL!r})\n"
        f"asked = Asked({asked.story!r}, {asked.thing!r}, {asked.right!r}, {asked.others!r})\n"
        f"prompt = {prompt!r}\n"
        "print(answers(model, tokenizer, asked, [prompt])[0].round(3))",
        f"{chances[-1].round(3)}",
    )
