"""All terms, or those that contain some letters."""

from functools import lru_cache
from html import escape

import streamlit as st

from llmviz.course.glossary import newcomers, seen, terms
from llmviz.course.lessons.glossary import words
from llmviz.course.lessons.glossary.pictures import picture
from llmviz.course.ui import course, kit


def draw(state: kit.PageState) -> None:
    """Show the terms whose name, meaning or everyday word contains the wanted letters."""
    kit.text_input(state, "find", words.find, placeholder=words.example)
    wanted = state["find"].strip().lower()
    also, places = newcomers(), seen()
    matches = [
        entry(term, meaning, places.get(term, ""), ", ".join(also.get(term, ())))
        for term, meaning in terms().items()
        if any(wanted in text.lower() for text in (term, meaning, *also.get(term, ())))
    ]
    if not matches:
        st.info(words.none)
    st.html(f'<div class="lv-prose">{"".join(matches)}</div>')


@lru_cache(1024)
def entry(term: str, meaning: str, place: str, also: str) -> str:
    """Return a term as HTML: what it means, a picture where it has one, where it is seen.

    place: "" where no chapter shows it. also: what newcomers call it.
    """
    said = f" {words.also.format(words=also)}" if also else ""
    text = f"<strong>{escape(term)}</strong> — {escape(meaning + said)}"
    if not place:
        return f"<p>{text}</p>"
    chapter, _, state = place.partition("?")
    lesson, _, part = chapter.partition("/")
    address = f"{lesson}?part={part}{'&' if state else ''}{state}"
    label = words.see.format(chapter=course.chapter_of(lesson, part).title)
    return (
        f"<p>{text} {picture(term)}"
        f'<a class="lv-place" data-place="{escape(place)}" href="{escape(address)}">'
        f"{escape(label)}</a></p>"
    )
