"""The end of the hour: the sentence in the whole machine, what was guessed, and what comes next."""

from urllib.parse import urlencode

import streamlit as st

from llmviz.course.components.keepsake.view import Line, keepsake
from llmviz.course.lessons.home import below, words
from llmviz.course.lessons.home.below import OnScreen
from llmviz.course.lessons.home.sentence import token_text
from llmviz.course.ui import course, hour, kit
from llmviz.course.ui.contents import COURSE, HOUR
from llmviz.paths import PAGES

LISTED = 4  # tokens that may come next
REAL_LESSON = "real"  # the page of the lesson on a real model, where it is there


def draw(state: kit.PageState, screen: OnScreen | None) -> None:
    """Show what was guessed at each stop and what was right, a link to it, and where to go on."""
    kit.section(words.kept)
    if screen is not None:
        best = zip(screen.reading.top_ids[-1], screen.reading.top_probabilities[-1], strict=True)
        following = [
            (token_text(int(token), screen.bundled.tokenizer)[0].replace("·", " "), float(share))
            for token, share in [*best][:LISTED]
        ]
        keepsake(screen.window.text, following, lines(), key="home.kept", words=words.keepsake)
        st.caption(words.keep)
    st.code(link(state, st.context.url or ""), language=None, wrap_lines=True)
    kit.section(words.onward)
    with st.container(horizontal=True):
        if st.button(words.ten, type="primary", icon=":material/route:"):
            below.set_out(state, COURSE, course.first_stop(COURSE))
        if (PAGES / f"{REAL_LESSON}.py").exists() and st.button(
            words.inside_real, icon=":material/memory:"
        ):
            course.open_place(REAL_LESSON)
    below.tests()


def link(state: kit.PageState, page: str) -> str:
    """Return the link to the sentence in the machine; page: the address without a state."""
    controls = {key: value for key, value in state.address().items() if key != "end"}
    return f"{page.rstrip('/')}/?{urlencode(controls)}"


def lines() -> list[Line]:
    """Return for each stop of the hour what this visitor guessed there, and what is right."""
    made = hour.guesses()
    return [
        Line(course.chapter_of(stop.lesson, stop.chapter).title, *made[place])
        for stop in course.stops(HOUR)
        if (place := f"{stop.lesson}/{stop.chapter}") in made
    ]
