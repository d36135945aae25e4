"""Chapter "Which system does what": the ideas of this lesson in known systems, with sources."""

from typing import Any

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.efficiency import LESSON
from llmviz.course.lessons.efficiency.systems import table, words
from llmviz.course.ui import kit

KEY, GUESS = "efficiency.systems", "efficiency.systems.count"
GUESSED, SERVER = (
    "megatron",
    "vllm",
)  # the system that is asked about, and one that only serves
SHADES = {table.YES: 1.0, table.PARTLY: 0.5}
TRAINING = ("parallel", "memory", "bits")  # chapters whose ideas are about training


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the grid without a column, and the guess how full it is; then the chosen cell."""
    kit.prose(words.hook)
    guess = kit.Guess(GUESS, question())
    shown = guess.open
    with kit.stage("systems"):
        _grid(state, shown=shown)
        _cell(state, shown=shown)
        guess.cases(
            [kit.Case(system.name, count(system.key)) for system in table.SYSTEMS],
            kit.Axis(0, len(table.IDEAS) + 1, words.axis),
            veiled=[[system.key for system in table.SYSTEMS].index(GUESSED)],
            picture=f"{KEY}.guess",
            form="count",
        )
    if guess.ask():
        kit.looks(state, words.looks, f"{KEY}.looks")
    _sources()
    if shown:
        kit.seen(
            words.end,
            ideas=len(table.IDEAS),
            fewest=min(map(spread, table.IDEAS)),
            all=len(table.SYSTEMS),
        )


def count(system: str) -> int:
    """Return how many ideas a system has, at least in part, by the sources."""
    return sum(table.cell(system, idea.key).state in SHADES for idea in table.IDEAS)


def spread(idea: tuple) -> int:
    """Return in how many systems an idea is, at least in part, by the sources."""
    return sum(table.cell(system.key, idea[0]).state in SHADES for system in table.SYSTEMS)


def question() -> kit.Question:
    """Ask how many ideas a system for training has.

    The wrong answers: who trains has what training needs alone; or as much as one that only serves.
    """
    right, serves = count(GUESSED), count(SERVER)
    trains = sum(idea.chapter in TRAINING for idea in table.IDEAS)
    (system,) = (system for system in table.SYSTEMS if system.key == GUESSED)
    reasons = {right: words.ask_right, trains: words.ask_trains, serves: words.ask_serves}
    slots: dict[str, Any] = {"system": system.name, "all": len(table.IDEAS)}
    return kit.Question.among(words.ask, reasons, right, trains=trains, **slots)


def _grid(state: kit.PageState, *, shown: bool) -> None:
    facts = [[table.cell(system.key, idea.key) for system in table.SYSTEMS] for idea in table.IDEAS]
    told = [shown or system.key != GUESSED for system in table.SYSTEMS]
    states = [
        [fact.state if on else "asked" for fact, on in zip(row, told, strict=True)] for row in facts
    ]
    keys = [idea.key for idea in table.IDEAS], [system.key for system in table.SYSTEMS]

    def take() -> None:
        match st.session_state[f"{KEY}.grid"].get("chosen"):
            case [int(row), int(column)] if row < len(keys[0]) and column < len(keys[1]):
                state["whoidea"], state["whosystem"] = keys[0][row], keys[1][column]

    cell_grid(
        np.array([[SHADES.get(own, 0.0) for own in row] for row in states]),
        key=f"{KEY}.grid",
        row_names=[idea.name for idea in table.IDEAS],
        column_names=[system.name for system in table.SYSTEMS],
        texts=[[words.signs[own] for own in row] for row in states],
        notes=[[words.groups[own] for own in row] for row in states],
        role="query",
        limit=1.0,
        label=words.grid,
        chosen=(keys[0].index(state["whoidea"]), keys[1].index(state["whosystem"])),
        on_change=take,
    )


def _cell(state: kit.PageState, *, shown: bool) -> None:
    """Say what the chosen cell claims, with its source, and lead to the chapter of its idea."""
    (system,) = (system for system in table.SYSTEMS if system.key == state["whosystem"])
    (idea,) = (idea for idea in table.IDEAS if idea.key == state["whoidea"])
    fact = table.cell(system.key, idea.key)
    line = words.caption.format(
        system=system.name, does=system.about, idea=idea.name, about=idea.about
    )
    if shown or system.key != GUESSED:
        line += f" {words.told[fact.state]}"
        line += words.note.format(note=fact.note) if fact.note else ""
        if fact.source:
            source = table.SOURCES[fact.source]
            date = source.date or words.version.format(version=source.version)
            line += words.source.format(title=source.title, address=source.address, date=date)
    st.markdown(as_markdown(line))
    label = words.leads.format(chapter=LESSON.title_of(idea.chapter))
    kit.chapter_link("efficiency", idea.chapter, label)


def _sources() -> None:
    with st.expander(words.sources_title, icon=":material/menu_book:"):
        lines = []
        for source in table.SOURCES.values():
            date = source.date or words.version.format(version=source.version)
            lines.append(f"- [{source.title}]({source.address}), {date}")
        st.markdown(as_markdown("\n".join([*lines, "", words.read.format(date=table.READ)])))
