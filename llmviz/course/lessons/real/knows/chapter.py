"""Chapter "What it knows": the capitals of sixty countries, and how sure a model is of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.figures.theme import chart_layout
from llmviz.course.lessons.real import source
from llmviz.course.lessons.real import words as all_words
from llmviz.course.lessons.real.capitals import EXAMPLE, known
from llmviz.course.lessons.real.knows import COUNTRY, words
from llmviz.course.lessons.real.knows.model import ALONE, SHOWN, CountryAnswers, Knows, Own, own
from llmviz.course.lessons.real.reader import Choice, chances
from llmviz.course.ui import kit

KEY = "real.knows"
LANES = {True: 1.0, False: 0.0}
STEPS = 5  # heights of a lane, so that dots of one share stand beside each other
NAMED = 0.45  # from this share on a wrong answer is written beside its dot


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show all answers by how sure they are, the guess, and one's own country."""
    kit.prose(words.hook)
    all_said: Knows = source.record("knows")
    guess = kit.Guess(KEY, question(all_said), seen=state["knowsland"] != COUNTRY)
    with st.container():  # the picture stays in view as far as its looks
        with kit.stage("knows", stays=True):
            kit.plot(f"{KEY}.dots", figure, state["knowsway"], guess.open)
            kit.prose(words.caption[state["knowsway"]], **numbers(all_said, state["knowsway"]))
        guess.ask()
        kit.choose(state, "knowsway", words.way_label, words.ways)
        made = _own(state, guess)
        source.about()
        if guess.open:
            kit.looks(state, words.looks, f"{KEY}.looks")
    kit.section(words.shown, **numbers(all_said, "shown"))
    if made and guess.open:
        country, found = made
        alone = state["knowsway"] == "alone"
        first, form = (found.alone, ALONE) if alone else (found.shown, SHOWN)
        text = form.format(country=country)
        prints = f"{first[0].text.strip()} {first[0].share:.1%}"
        kit.show_code([own, chances], source.snippet(words.snippet, text=text), prints)
    kit.section(words.invented)
    kit.rows_table(
        [
            [said.country, said.shown.text, kit.percent(said.shown.share)]
            for said in all_said.invented
        ],
        words.invented_columns,
    )
    kit.prose(words.invented_read, most=kit.percent(max(s.shown.share for s in all_said.invented)))
    source.proved("errors", "facts")
    if guess.open:
        kit.seen(words.end, **numbers(all_said, "shown"))


def facts() -> dict[str, Any]:
    """Return what other lessons say of this chapter's record."""
    all_said: Knows = source.record("knows")
    turkey = said_of(all_said, "Turkey").shown
    return {
        **numbers(all_said, "shown"),
        "share": kit.whole_percent(float(np.mean([s.right_shown for s in all_said.countries]))),
        "istanbul": source.word(turkey.text),
        "istanbul_share": kit.percent(turkey.share),
    }


def said_of(all_said: Knows, country: str) -> CountryAnswers:
    """Return what was said of a country."""
    return next(said for said in all_said.countries if said.country == country)


def answer_of(said: CountryAnswers, way: str) -> tuple[Choice, bool]:
    """Return the answer in a way of asking, and whether it is right."""
    return (said.shown, said.right_shown) if way == "shown" else (said.alone, said.right_alone)


def question(all_said: Knows) -> kit.Question:
    """Return the question which city it calls the capital of Australia."""
    said = said_of(all_said, COUNTRY).shown
    wrong = {"Canberra": words.ask_book, COUNTRY: words.ask_repeat, "Melbourne": words.ask_other}
    reasons = {said.text: words.ask_right, **{k: v for k, v in wrong.items() if k != said.text}}
    return kit.Question.among(
        words.ask,
        reasons,
        said.text,
        country=COUNTRY,
        prompt=kit.quote(SHOWN.format(country=COUNTRY), 160),
        share=kit.percent(said.share),
    )


@kit.cached(8)
def figure(way: str, opened: bool, mode: kit.Mode) -> kit.Figure:
    """Return a dot for each country: how sure across, right above wrong."""
    lanes: dict[bool, list[tuple[float, float, str, str]]] = {True: [], False: []}
    for said in source.record("knows").countries:
        choice, right = answer_of(said, way)
        if said.country == COUNTRY and not opened:
            continue
        height = LANES[right] + 0.1 * (len(lanes[right]) % STEPS)
        told = not right and choice.share >= NAMED and choice.text != said.country
        name = words.dot.format(country=said.country, answer=choice.text)
        lanes[right].append((choice.share, height, name, name if told else ""))
    drawn = []
    for right, role in ((True, "value"), (False, "accent")):
        x, y, names, loud_names = zip(*lanes[right], strict=True)
        loud = sorted((n for n, name in enumerate(loud_names) if name), key=x.__getitem__)
        below = set(loud[1::2])  # so that neighbours do not lie on each other
        drawn.append(
            {
                "type": "scatter",
                "x": x,
                "y": y,
                "mode": "markers+text",
                "text": [kit.escape_plotly(name) for name in loud_names],
                "textposition": [
                    f"{'bottom' if n in below else 'top'} center" for n in range(len(x))
                ],
                "hovertext": [
                    f"{kit.escape_plotly(name)}, {kit.whole_percent(share)}"
                    for name, share in zip(names, x, strict=True)
                ],
                "hovertemplate": "%{hovertext}<extra></extra>",
                "marker": {"size": 10, "color": kit.role_color(role, mode), "opacity": 0.8},
                "showlegend": False,
            }
        )
    layout = chart_layout((words.sure_axis, ""), mode, height=260)
    layout["margin"] = {"l": 70, "r": 16, "t": 20, "b": 44}
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    layout["xaxis"] |= {
        "range": [0, 1.05],
        "tickvals": ticks,
        "ticktext": [kit.whole_percent(share) for share in ticks],
    }
    layout["yaxis"] |= {
        "range": [-0.2, 1.7],
        "tickvals": [0.2, 1.2],
        "ticktext": [words.lanes["wrong"], words.lanes["right"]],
        "showgrid": False,
        "zeroline": False,
    }
    return kit.Figure(drawn, layout)


def numbers(all_said: Knows, way: str) -> dict[str, Any]:
    """Return what caption, sections and end say of a way of asking."""
    answers = [answer_of(said, way) for said in all_said.countries]
    repeats = sum(answer_of(s, way)[0].text == s.country for s in all_said.countries)
    australia = said_of(all_said, COUNTRY)
    return {
        "asked": len(answers),
        "right": sum(right for _, right in answers),
        "sure": kit.whole_percent(sum(choice.share for choice, _ in answers) / len(answers)),
        "repeats": repeats,
        "example": EXAMPLE.name,
        "sydney": kit.percent(australia.shown.share),
        "canberra_alone": kit.percent(australia.alone.share),
    }


def _own(state: kit.PageState, guess: kit.Guess) -> tuple[str, Own] | None:
    """Ask for one's own country, and return the one that is shown and what may come after it.

    None where it is not told, or where only its answer is recorded.
    """
    source.own(state, {"knowsland": words.own_label})
    country = state["knowsland"].strip()
    if guess.asks and country == COUNTRY:
        return None
    found: Own | None = source.measured("capital", country)
    listed, axis, alone = known(country), words.next_axis, state["knowsway"] == "alone"
    names = [said.country for said in source.record("knows").countries]
    if found is None and listed and listed.name in names:
        recorded = said_of(source.record("knows"), listed.name)
        said = recorded.alone if alone else recorded.shown
        choices, axis = [said], words.sure_axis
    else:
        if found is None:
            kit.prose(all_words.instead)
            country, listed, found = COUNTRY, known(COUNTRY), source.record("capital", COUNTRY)
        said, choices = (found.alone[0], [*found.alone]) if alone else (found.word, [*found.shown])
    kit.prose(
        words.own_read["known" if listed else "unknown"],
        country=source.word(country),
        answer=source.word(said.text),
        share=kit.percent(said.share),
        capital=listed.capital if listed else "",
    )
    kit.case_rows(
        [kit.Case(choice.text, choice.share) for choice in choices],
        kit.Axis(0, 1, axis),
        key=f"{KEY}.own",
    )
    return (country, found) if found else None
