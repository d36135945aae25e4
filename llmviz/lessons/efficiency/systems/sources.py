"""Sources of the chapter's statements: each with its title, its address and its date or version.

The chapter's document lists them. The date is that of the source itself: the newest day that it
names; of a thread that says no, the day of the answer that says so. The version is that of the
software which it describes.
"""

from typing import NamedTuple

from llmviz.lessons.efficiency.systems import words

READ = "2026-11-23"


class Source(NamedTuple):
    """A document: its title, where it is, and its date (ISO, as far as it is known) or version."""

    title: str
    address: str
    date: str
    version: str


SOURCES = {key: Source(*cells) for key, cells in words.sources.items()}
