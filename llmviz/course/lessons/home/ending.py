"""The end of the hour: the sentence in the whole machine, what was guessed, and what comes next."""

import json
from urllib.parse import urlencode

import streamlit as st

from llmviz.course.components.keepsake.view import Line, keepsake
from llmviz.course.lessons.home import below, words
from llmviz.course.lessons.home.below import OnScreen
from llmviz.course.lessons.home.sentence import token_text
from llmviz.course.ui import course, kit
from llmviz.course.ui.contents import COURSE, HOUR
from llmviz.course.ui.guess_made import Made, made
from llmviz.files.paths import PAGES

LISTED = 4  # tokens that may come next
LONGEST = 300  # characters of a question or an answer that the address holds
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
        keepsake(screen.window.text, following, lines(state), key="home.kept", words=words.keepsake)
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
    controls = {
        key: value for key, value in state.address().items() if key not in ("end", "guessed")
    }
    return f"{page.rstrip('/')}/?{urlencode(controls)}"


def lines(state: kit.PageState) -> list[Line]:
    """Return for each stop of the hour what this visitor guessed there, and what is right.

    The page's own address holds it, too, so that another server shows the same.
    """
    stops = {f"{stop.lesson}/{stop.chapter}": stop for stop in course.stops(HOUR)}
    by_chapter = {**read(state["guessed"]), **made()}
    found = {place: by_chapter[place] for place in stops if place in by_chapter}
    state["guessed"] = write(found) if found else ""
    return [
        Line(course.chapter_of(stops[place].lesson, stops[place].chapter).title, *line)
        for place, line in found.items()
    ]


def write(found: dict[str, Made]) -> str:
    """Return what was guessed as an address holds it."""
    short = {
        place: [*(text[:LONGEST] for text in texts), graded]
        for place, (*texts, graded) in found.items()
    }
    return json.dumps(short, ensure_ascii=False, separators=(",", ":"))


def read(written: str) -> dict[str, Made]:
    """Return what an address says was guessed; what no page wrote is passed over.

    >>> read('{"a/b": ["asked", "", "right", null], "c/d": [1, "", "", true]}')
    {'a/b': ('asked', '', 'right', None)}
    """
    try:
        found = json.loads(written or "{}")
    except (ValueError, RecursionError):
        return {}
    return {
        place: tuple(line)
        for place, line in (found.items() if isinstance(found, dict) else ())
        if isinstance(line, list)
        and len(line) == 4
        and all(isinstance(text, str) for text in line[:3])
        and (line[3] is None or isinstance(line[3], bool))
    }
