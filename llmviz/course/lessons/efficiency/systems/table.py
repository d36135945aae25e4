"""Which system has which idea of this lesson, with the source of each statement.

The chapter's document holds the tables. A statement is there only where a source says it.
"""

from typing import NamedTuple

from llmviz.course.lessons.efficiency.systems import words

YES, PARTLY, NO, OPEN = STATES = ("yes", "partly", "no", "open")
READ = "2026-11-23"  # when all sources were read


class Idea(NamedTuple):
    """An idea: its name, what it is in one line, and the chapter that shows it."""

    key: str
    name: str
    about: str
    chapter: str


class System(NamedTuple):
    """A system: its key, its name, and what it does: the rest of a sentence that it begins."""

    key: str
    name: str
    about: str


class Cell(NamedTuple):
    """Whether a system has an idea, the key of the source that says so, and a remark."""

    state: str
    source: str = ""
    note: str = ""


class Source(NamedTuple):
    """A document: its title, where it is, and its date (ISO, as far as it is known) or version.

    The date is that of the document itself: the newest day that it names; of a thread that says
    no, the day of the answer that says so. The version is that of the software it describes.
    """

    title: str
    address: str
    date: str
    version: str


IDEAS = [Idea(key, *cells) for key, cells in words.ideas.items()]
SYSTEMS = [System(key, *cells) for key, cells in words.systems.items()]
CELLS = {
    system: {idea: Cell(*cells) for idea, cells in ideas.items()}
    for system, ideas in words.cells.items()
}
SOURCES = {key: Source(*cells) for key, cells in words.sources.items()}


def cell(system: str, idea: str) -> Cell:
    """Return what is known of an idea in a system; open where nothing is claimed.

    Raises KeyError for an unknown system.
    """
    return CELLS[system].get(idea, Cell(OPEN))
