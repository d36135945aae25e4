"""Chapter "Who does what": which system has which idea of this lesson, with sources."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from llmviz.lessons.efficiency import LESSON
from llmviz.lessons.efficiency.systems import words
from llmviz.lessons.efficiency.systems.table import (
    IDEAS,
    READ,
    SOURCES,
    STATES,
    SYSTEMS,
    Cell,
    Idea,
    System,
    cell,
    having,
)
from llmviz.ui.common import choose
from llmviz.ui.lesson import section
from llmviz.ui.prose import prose
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState
from llmviz.ui.table import columns_table

KEY = "efficiency.systems"
HEIGHT = 35 * (len(IDEAS) + 1) + 3  # pixels: all rows, without a bar to scroll
TITLES = {chapter.key: chapter.title for chapter in LESSON.chapters}


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.TITLE, words.TEXT)
    choose(state, "whoview", words.VIEW, words.VIEWS)
    if state["whoview"] == "system":
        choose(state, "whosystem", words.SYSTEM, {one.key: one.name for one in SYSTEMS})
        (system,) = (one for one in SYSTEMS if one.key == state["whosystem"])
        rows = [(idea.name, idea.about, cell(system.key, idea.key)) for idea in IDEAS]
        prose(_about(words.ABOUT_SYSTEM, system, rows))
        ideas: Sequence[Idea] = [one for one in IDEAS if cell(system.key, one.key).state != "open"]
    else:
        choose(state, "whoidea", words.IDEA, {one.key: one.name for one in IDEAS})
        (idea,) = (one for one in IDEAS if one.key == state["whoidea"])
        rows = [(system.name, system.about, cell(system.key, idea.key)) for system in SYSTEMS]
        prose(_about(words.ABOUT_IDEA, idea, rows))
        ideas = [idea]
    used = list(dict.fromkeys(one.source for _, _, one in rows if one.source))
    for group in STATES:
        _group(group, [row for row in rows if row[2].state == group], used)
    _links(ideas)
    _sources(used)
    section(words.TABLE_TITLE)
    columns_table(whole_table(), key=f"{KEY}.table", height=HEIGHT)
    st.caption(words.TABLE_NOTE)
    predict(question(state["whoidea"]), f"{KEY}.ask")


Row = tuple[str, str, Cell]


def _about(template: str, one: System | Idea, rows: Sequence[Row]) -> str:
    states = [found.state for _, _, found in rows]
    counts = {"yes": states.count("yes"), "partly": states.count("partly"), "all": len(rows)}
    counts["yes"] += counts["partly"]
    return template.format(name=one.name, about=one.about, **counts)


def _group(state: str, rows: Sequence[Row], used: Sequence[str]) -> None:
    """Show the rows of a state as a list."""
    if not rows:
        return
    lines = [f"**{words.GROUPS[state].capitalize()}**", ""]
    for name, about, found in rows:
        line = words.ITEM.format(name=name, about=about)
        line += words.NOTE.format(note=found.note) if found.note else ""
        if found.source:
            number = used.index(found.source) + 1
            line += words.SOURCE.format(number=number, address=SOURCES[found.source].address)
        lines.append(f"- {line}")
    st.markdown("\n".join(lines))


def _links(ideas: Sequence[Idea]) -> None:
    """Lead to the chapters that show ideas, each once."""
    prose(f"**{words.LEAD_TITLE}**")
    with st.container(horizontal=True, gap="small"):
        for chapter in dict.fromkeys(one.chapter for one in ideas):
            st.page_link(
                "pages/efficiency.py",
                label=words.LEADS.format(chapter=TITLES[chapter]),
                icon=":material/arrow_forward:",
                query_params={"part": chapter},
            )


def _sources(used: Sequence[str]) -> None:
    """List sources under the numbers that the statements above name."""
    lines = [f"**{words.SOURCES_TITLE}**", ""]
    for number, key in enumerate(used, start=1):
        source = SOURCES[key]
        line = {"title": source.title, "address": source.address}
        lines.append(
            words.SOURCE_LINE.format(number=number, date=source.date or source.version, **line)
        )
    st.markdown("\n".join([*lines, "", words.READ.format(date=READ)]))


def whole_table() -> dict[str, list[str]]:
    """Return the whole table: a row an idea, a column a system."""
    columns = {words.TABLE_FIRST: [one.name for one in IDEAS]}
    for system in SYSTEMS:
        states = (cell(system.key, idea.key).state for idea in IDEAS)
        columns[system.name] = [words.SIGNS[state] for state in states]
    return columns


def question(asked: str) -> Question:
    """Ask for a system that has an idea, with one right answer.

    About the chosen idea, or the next one in the list that some system has not.
    """
    keys = [one.key for one in IDEAS]
    at = keys.index(asked)
    for key in (*keys[at:], *keys[:at]):
        right = having(key)
        others = [one for one in SYSTEMS if one not in right]
        if right and len(others) >= 2:
            return _question(key, right[0], others[:3])
    raise ValueError("there is no idea that some systems have and two have not")


def _question(key: str, right: System, others: Sequence[System]) -> Question:
    (idea,) = (one for one in IDEAS if one.key == key)
    offered = sorted((right, *others), key=lambda one: SYSTEMS.index(one))
    reasons = []
    for one in offered:
        found = cell(one.key, key)
        if one is right:
            title = SOURCES[found.source].title
            reasons.append(words.RIGHT.format(system=one.name, title=title))
        else:
            line = words.WRONG[found.state]
            reasons.append(line.format(system=one.name, about=one.about))
    names = [one.name for one in offered]
    return Question(words.ASK.format(idea=idea.name), names, offered.index(right), reasons)
