"""Chapter "Which system does what": the ideas of this lesson in known systems, with sources."""

from collections.abc import Sequence

import streamlit as st

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.efficiency import LESSON
from llmviz.course.lessons.efficiency.systems import words
from llmviz.course.lessons.efficiency.systems.table import (
    IDEAS,
    OPEN,
    PARTLY,
    READ,
    SOURCES,
    STATES,
    SYSTEMS,
    YES,
    Cell,
    Idea,
    System,
    cell,
)
from llmviz.course.ui import kit

KEY = "efficiency.systems"
ANSWERS = 4
HEIGHT = 35 * (len(IDEAS) + 1) + 3  # pixels: all rows, without a bar to scroll


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    shown = kit.predict(question(state["whosystem"]), f"{KEY}.ask", covers=True)
    kit.choose(state, "whoview", words.view, words.views, parts=True)
    if state["whoview"] == "system":
        kit.choose(
            state, "whosystem", words.system, {system.key: system.name for system in SYSTEMS}
        )
        (system,) = (system for system in SYSTEMS if system.key == state["whosystem"])
        rows = [
            (idea.name, idea.about if shown else "", cell(system.key, idea.key)) for idea in IDEAS
        ]
        subject: System | Idea = system
        kit.prose(words.about_system, about=system.about, **_counts(system, rows))
        ideas: Sequence[Idea] = [idea for idea in IDEAS if cell(system.key, idea.key).state != OPEN]
    else:
        kit.choose(state, "whoidea", words.idea, {idea.key: idea.name for idea in IDEAS})
        (idea,) = (idea for idea in IDEAS if idea.key == state["whoidea"])
        rows = [(system.name, system.about, cell(system.key, idea.key)) for system in SYSTEMS]
        subject = idea
        line = _item(idea.name, idea.about if shown else "")
        kit.prose(words.about_idea, idea=line, **_counts(idea, rows))
        ideas = [idea]
    used = list(dict.fromkeys(fact.source for _, _, fact in rows if fact.source))
    for group in STATES:
        _group(group, [row for row in rows if row[2].state == group], used)
    _links(ideas)
    _sources(used)
    kit.section(words.table)
    kit.columns_table(whole_table(), key=f"{KEY}.table", height=HEIGHT)
    st.caption(table_note())
    most, systems = most_spread()
    first = words.end_first[state["whoview"]].format(**_counts(subject, rows))
    kit.seen(words.end, first=first, most=most, systems=systems)


Row = tuple[str, str, Cell]


def _counts(subject: System | Idea, rows: Sequence[Row]) -> dict[str, object]:
    states = [entry.state for _, _, entry in rows]
    partly = states.count(PARTLY)
    line = words.in_part.format(partly=partly) if partly else ""
    yes = states.count(YES) + partly
    return {"name": subject.name, "yes": yes, "partly": line, "all": len(rows)}


def _item(name: str, about: str) -> str:
    """Name an idea or a system and say what it is; its name alone while a question asks for it."""
    return (words.item if about else words.item_covered).format(name=name, about=about)


def most_spread() -> tuple[str, int]:
    """Return an idea that no other one surpasses in systems, and in how many of them it is."""
    counted = {
        idea.name: sum(cell(system.key, idea.key).state in (YES, PARTLY) for system in SYSTEMS)
        for idea in IDEAS
    }
    most = max(counted, key=counted.__getitem__)
    return most, counted[most]


def _group(state: str, rows: Sequence[Row], used: Sequence[str]) -> None:
    """Show the rows of a state as a list."""
    if not rows:
        return
    lines = [f"**{words.groups[state].capitalize()}**", ""]
    for name, about, entry in rows:
        line = _item(name, about)
        line += words.note.format(note=entry.note) if entry.note else ""
        if entry.source:
            number = used.index(entry.source) + 1
            line += words.source.format(number=number, address=SOURCES[entry.source].address)
        lines.append(f"- {line}")
    st.markdown(as_markdown("\n".join(lines)))


def _links(ideas: Sequence[Idea]) -> None:
    """Lead to the chapters that show ideas, each once."""
    kit.prose(kit.bold(words.lead_title))
    with st.container(horizontal=True, gap="small"):
        for chapter in dict.fromkeys(idea.chapter for idea in ideas):
            label = words.leads.format(chapter=LESSON.title_of(chapter))
            kit.chapter_link("efficiency", chapter, label)


def _sources(used: Sequence[str]) -> None:
    """List sources under the numbers that the statements above name."""
    lines = [f"**{words.sources_title}**", ""]
    for number, key in enumerate(used, start=1):
        source = SOURCES[key]
        date = source.date or words.version.format(version=source.version)
        line = {"title": source.title, "address": source.address}
        lines.append(words.source_line.format(number=number, date=date, **line))
    st.markdown(as_markdown("\n".join([*lines, "", words.read.format(date=READ)])))


def whole_table() -> dict[str, list[str]]:
    """Return the whole table: a row an idea, a column a system."""
    columns = {words.table_first: [idea.name for idea in IDEAS]}
    for system in SYSTEMS:
        states = (cell(system.key, idea.key).state for idea in IDEAS)
        columns[system.name] = [words.signs[state] for state in states]
    return columns


def table_note() -> str:
    """Return what the signs of the whole table mean, those that are in it."""
    used = {cell(system.key, idea.key).state for system in SYSTEMS for idea in IDEAS}
    notes = (note for state, note in words.table_notes.items() if state in used)
    return " ".join((*notes, words.table_moves))


def question(column: str) -> kit.Question:
    """Ask what an idea of a system is, among other ideas: each system asks for another one."""
    keys = [system.key for system in SYSTEMS]
    at = keys.index(column)
    known = [idea for idea in IDEAS if cell(column, idea.key).state == YES]
    right = known[at % len(known)]
    first = IDEAS.index(right)
    offered = [IDEAS[(first + step) % len(IDEAS)] for step in range(ANSWERS)]
    slots = {"system": SYSTEMS[at].name, "title": SOURCES[cell(column, right.key).source].title}
    reasons = {idea.about: words.wrong.format(idea=idea.name) for idea in offered}
    reasons[right.about] = words.right
    return kit.Question.among(words.ask, reasons, right.about, idea=right.name, **slots)
