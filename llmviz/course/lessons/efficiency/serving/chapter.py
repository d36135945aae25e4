"""Chapter "Many requests": a serving engine at work, tick by tick, and two policies compared."""

import streamlit as st

from llmviz.course.components.serving_film.view import serving_film
from llmviz.course.lessons.efficiency.serving import (
    figures,
    questions,
    schedule,
    texts,
    trial,
    words,
)
from llmviz.course.lessons.efficiency.serving.params import OPENING
from llmviz.course.lessons.efficiency.serving.runs import TwoRuns, bundled, bundled_shown, own_shown
from llmviz.course.lessons.efficiency.serving.serving_recording import COMMAND
from llmviz.course.ui import kit

KEY = "efficiency.serving"


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    kit.chapter_link("transformer", "loop", words.loop_link)
    own = own_shown(state)
    two_runs = own or _recorded()
    if two_runs is not None:
        _film(state, two_runs, own is not None)
    trial.draw(state)
    if two_runs is not None:
        _compared(two_runs)
    texts.draw(state, two_runs)
    kit.section(words.server_section)
    st.code(words.server, language="sh")
    schedule.code(state["servepolicy"])
    numbers = None if two_runs is None else figures.end(two_runs, int(state["serveshown"]))
    if numbers is not None:
        kit.seen(words.end, **numbers)


def _recorded() -> TwoRuns | None:
    try:
        return bundled_shown()
    except ValueError:
        kit.inform(words.no_file, ":material/download:")
        return None


def _film(state: kit.PageState, two_runs: TwoRuns, own: bool) -> None:
    kit.section(words.film_section)
    names = figures.names_of(two_runs)
    kit.choose(state, "serveshown", words.run, dict(zip(words.runs, names, strict=True)))
    number = int(state["serveshown"])
    run, picture = two_runs.runs[number], two_runs.pictures[number]
    config = run.recording.config
    window = f"{1000 * config.window:g}"
    about = words.about[config.policy].format(budget=config.token_budget, window=window)
    kit.prose(f"{about}\n\n{words.own_runs if own else _source()}")
    longest = questions.longest_table(run.recording)
    if longest is not None:
        question = questions.blocks_of(*longest, config.block_size)
        if not kit.predict(question, f"{KEY}.blocks", covers=True):
            return
    key = f"{KEY}.film"
    tick, request = two_runs.openings[number]
    serving_film(
        picture,
        key=key,
        step=tick if state["servetick"] == OPENING else state["servetick"],
        chosen=request if state["serverequest"] == OPENING else state["serverequest"],
        on_change=kit.bound(state, key, step="servetick", chosen="serverequest"),
    )


def _source() -> str:
    about = bundled()
    return words.bundled.format(
        date=about.date,
        torch=about.environment["torch"],
        machine=about.environment["machine"],
        threads=kit.count(about.environment["threads"], "thread"),
        command=COMMAND,
    )


def _compared(two_runs: TwoRuns) -> None:
    kit.section(words.figures_section)
    question = figures.who_waits_less(two_runs)
    if question is not None and not kit.predict(question, f"{KEY}.who", covers=True):
        kit.prose(figures.compared(two_runs))
        return
    columns = ("", *figures.names_of(two_runs))
    kit.rows_table(figures.table_of(two_runs), columns, height="content")
    kit.prose(f"{figures.compared(two_runs)}\n\n{words.curve_text}")
    kit.chart(figures.first_tokens(two_runs, kit.theme()), f"{KEY}.first")
