"""Chapter "One word more": one question in many ways, a fact in many places, long texts.

W ways to ask, K people of a story.
"""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.errors.asked import examples, longer, own, words
from llmviz.course.lessons.errors.moved_answers import (
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
from llmviz.course.ui import engine, kit
from llmviz.training.measures import Share

KEY = "errors.asked"
SHOWN = 90  # characters of a prompt's end
MOVING = "wrong first"  # the way that the question is about


def ahead() -> None:
    """Find the stories that the chapter asks about, which takes a second the first time."""
    if MODEL in engine.names():
        examples.stories(engine.version(MODEL))


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, model=MODEL)
    if not kit.models_here(MODEL):
        return
    bundled = kit.load(MODEL)
    if bundled is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.number_input(words.story, step=1, width=120, **state.ranged("askedstory"))
        kit.text_input(state, "askedbefore", words.sentence)
    number, sentence = state["askedstory"], state["askedbefore"].strip()
    chosen = examples.stories(bundled.version)[number - 1]
    chances = kit.or_refused(examples.answered, bundled.version, number, sentence)
    if chances is None:
        return
    story = example(chosen, chances)
    _example(chosen, sentence, chances, story)
    longest = max(examples.prompts(chosen, sentence), key=len)
    if len(bundled.tokenizer.encode_from_start(longest)) > bundled.model.context_length:
        kit.inform(words.too_long, ":material/content_cut:")
    _code(chosen, sentence, chances)
    own.draw(state, bundled)
    measured = kit.or_refused(recorded)
    if measured is None:
        return
    over = _over(measured)
    _place(measured)
    longer.draw()
    if over is not None:
        kit.seen(words.end, **story, **over)


def example(case: Asked, chances: np.ndarray) -> dict[str, Any]:
    """Return what is said of one story: which answers are wrong, and what the sentence did."""
    return {
        "ways": len(chances),
        "wrong": int((chances.argmax(-1) != 0).sum()),
        "own": kit.percent(float(chances[-1, 0])),
    }


def _example(case: Asked, sentence: str, chances: np.ndarray, story: dict[str, Any]) -> None:
    st.text(case.story)
    names = [*(words.ways[name] for name in WAYS), words.own_way]
    people = (case.right, *case.others)
    table = [
        (name, f"… {prompt[-SHOWN:]}", people[int(row.argmax())], kit.percent(float(row[0])))
        for name, prompt, row in zip(names, examples.prompts(case, sentence), chances, strict=True)
    ]
    kit.rows_table(table, words.example_columns)
    kit.prose(
        words.example_read.format(
            right=kit.quote(case.right),
            thing=case.thing,
            plain=kit.percent(float(chances[list(WAYS).index(PLAIN), 0])),
            **story,
        )
    )


def _over(measured: Moved) -> dict[str, Any] | None:
    """Show the section on all stories; return its numbers, None while the question covers them."""
    ways = measured.ways
    kit.section(words.over, stories=ways[PLAIN].stories, command=COMMAND)
    if not kit.predict(question(measured), f"{KEY}.order", covers=True):
        return None
    kit.rows_table(over_rows(measured), words.over_columns)
    numbers = over_numbers(measured)
    kit.prose(words.over_read.format(**numbers))
    return {name: numbers[name] for name in ("stories", "plain", "most", "moved")}


def over_rows(measured: Moved) -> list[tuple[str, ...]]:
    """Return a row for each way: share right with its interval, and how many answers moved."""
    table = []
    for name, way in measured.ways.items():
        low, high = Share(way.right, way.stories).interval
        moved = ("", "") if name == PLAIN else (f"{way.broken:,}", f"{way.mended:,}")
        share = kit.percent(way.right / way.stories)
        table.append((words.ways[name], share, f"{kit.percent(low)} – {kit.percent(high)}", *moved))
    return table


def over_numbers(measured: Moved) -> dict[str, Any]:
    """Return which way moves most answers and which the fewest, and how the plain one does."""
    others = {name: way for name, way in measured.ways.items() if name != PLAIN}
    most = max(others, key=lambda name: others[name].moved)
    least = min(others, key=lambda name: others[name].moved)
    plain = measured.ways[PLAIN]
    return {
        "stories": plain.stories,
        "plain": kit.percent(plain.right / plain.stories),
        "most": words.ways[most],
        "moved": others[most].moved,
        "least": words.ways[least],
        "few": others[least].moved,
    }


def question(measured: Moved) -> kit.Question:
    """Return the question how many answers move when the wrong option stands first."""
    way = measured.ways[MOVING]
    share = way.moved / way.stories
    numbers = {"moved": kit.percent(share), "broken": way.broken, "mended": way.mended}
    reasons = [reason.format(**numbers) for reason in words.ask_order_reasons]
    return kit.share_question(
        words.ask_order.format(stories=way.stories), share, reasons, kit.percent
    )


def _place(measured: Moved) -> None:
    stories = measured.places[0].stories
    kit.section(words.place, fillers=FILLERS, stories=stories)
    kit.chart(place_figure(kit.theme()), f"{KEY}.place", bar=False)
    kit.prose(place_line(measured.places))


@kit.kept(2)
def place_figure(mode: kit.Mode) -> kit.Figure:
    """Return the share of right answers by place, with its interval."""
    places = recorded().places
    x = [place.before for place in places]
    ends = np.array([Share(place.right, place.stories).interval for place in places])
    drawn = [
        Line(words.place_line, x, [place.right / place.stories for place in places], 0),
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
    best = max(places, key=lambda place: place.right)
    worst = min(places, key=lambda place: place.right)
    low = Share(best.right, best.stories).interval[0]
    high = Share(worst.right, worst.stories).interval[1]
    return words.place_read.format(
        best=best.before,
        best_share=kit.percent(best.right / best.stories),
        worst=worst.before,
        worst_share=kit.percent(worst.right / worst.stories),
        verdict=words.place_verdict["apart" if low > high else "tie"],
    )


def _code(case: Asked, sentence: str, chances: np.ndarray) -> None:
    prompt = examples.prompts(case, sentence)[-1]
    kit.show_code(
        [answers],
        words.snippet.format(
            model=MODEL,
            story=case.story,
            thing=case.thing,
            right=case.right,
            others=case.others,
            prompt=prompt,
        ),
        f"{chances[-1].round(3)}",
    )
