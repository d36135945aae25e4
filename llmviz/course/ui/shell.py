"""What stands around every lesson: the learner's text in the sidebar, and the look of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

import streamlit as st

from llmviz.course.components.text_guard.view import text_guard
from llmviz.course.document.marks import as_markdown
from llmviz.course.figures.theme import INK, PRIMARY, PRIMARY_TEXT
from llmviz.course.ui import browser, class_session, classroom, course, languages, prose, runs
from llmviz.course.ui.cached import cached
from llmviz.course.ui.common import suggest
from llmviz.course.ui.contents import Lesson
from llmviz.course.ui.furniture import words
from llmviz.course.ui.state import DEFAULT_TEXT, LEARNER_TEXT, THROUGH_APP, PageState
from llmviz.course.ui.text_field import text_area
from llmviz.files.paths import PAGES

if TYPE_CHECKING:
    from streamlit.navigation.page import StreamlitPage

EXAMPLES = {
    "Anna and Samir": DEFAULT_TEXT,
    "The cat sat": "The cat sat on the mat. The kitten slept; tokenization isn't magic 🙂",
    "A story": (
        "Mila put the red ball into the box. Then she went to the market with her uncle. "
        'When they came home, he asked, "Who has the ball?"'
    ),
    "Words and their parts": (
        "token tokens tokenize tokenization modern modernize modernization boy boys"
    ),
    "Many scripts": "naïve café · 한국어 · Ελληνικά · עברית · 日本語 · हिन्दी · 🙂👩‍🚀",
    "Code": "def add(a, b):\n    return a + b  # 12 + 30 = 42\n",
}

# On paper: a chapter from its title to its end, without what only a hand or a pointer can use.
_PRINT = """@page { margin: 14mm; }
@media print {
  .stApp [data-testid="stSidebar"], .stApp [data-testid="stHeader"], .stApp .stButton,
  .stApp .stDownloadButton, .stApp .stPageLink, .stApp .stFileUploader, .stApp .stPopover,
  .stApp .stExpander:has(details:not([open])), .stApp [class*="st-key-_examples"] { display: none; }
  .stApp .block-container { max-width: none; padding: 0; zoom: .72; }
  .stApp [data-testid^="stBidi"] { zoom: .85; }
  .stApp .stPlotlyChart, .stApp .stDataFrame, .stApp [data-testid^="stBidi"], .stApp .stRadio,
  .stApp .stImage, .stApp .stAlert, .stApp .lv-prose p { break-inside: avoid; }
  .stApp h1, .stApp h2, .stApp h3 { break-after: avoid; }
  .lv-opening p, .lv-prose { max-width: none; }
}"""

# In the first page's head, too: what is drawn before a rerun ends keeps its place.
STYLE = (
    f"""<style>
.stApp .block-container {{ max-width: 76rem; padding-top: 4.2rem; }}
.stApp .st-key-progress {{ position: absolute; }}
.stApp .stRadio [role="radiogroup"] label, .stApp .stCheckbox label {{ min-height: 24px; }}
.stApp button[aria-label^="Help for"], .stApp button[aria-label="Open"], .stApp .modebar-btn {{
  min-width: 24px; min-height: 24px; }}
.stApp button[data-selected="true"] p, .stApp [data-testid="stSliderThumbValue"] {{
  color: light-dark({PRIMARY["light"]}, {PRIMARY_TEXT}); }}
.stApp [data-testid="stCaptionContainer"], .stApp [data-testid="stCaptionContainer"] p {{
  opacity: 1; color: light-dark({INK["light"]["muted"]}, {INK["dark"]["muted"]}); }}
[data-testid="stSidebarNavLink"]:focus-visible {{
  outline: 2px solid light-dark({PRIMARY["light"]}, {PRIMARY_TEXT}); outline-offset: -2px; }}
[data-testid="stSidebarUserContent"]:has(.st-key-{classroom.BOX}) {{
  position: sticky; bottom: 0; z-index: 1; padding-bottom: 1rem;
  background: var(--st-background-color, Canvas); }}
{_PRINT}
</style>"""
    + prose.STYLE
)

# For a projector: no menu, larger type, and pictures as much larger. Charts of Plotly stay as they
# are: they know their pointer's place only where nothing enlarges them.
_PROJECTOR = """<style>
html { font-size: 140% !important; }
.stApp [data-testid="stSidebar"], .stApp [data-testid="stHeader"], .stApp .stPageLink,
.stApp [data-testid="stExpandSidebarButton"] { display: none; }
.stApp .block-container { max-width: 76rem; padding-top: 1.2rem; padding-bottom: 4rem; }
.stApp [data-testid^="stBidi"] { zoom: 1.4; }
</style>"""


def page_list(lessons: Sequence[Lesson]) -> list[StreamlitPage]:
    """Return the pages of these lessons for `st.navigation`, the first one as the home page.

    Making a page looks its file up. So each is made once; a rerun gets copies, because Streamlit
    marks the page that it may run.
    """
    listed = tuple((lesson.key, lesson.title, lesson.icon) for lesson in lessons)
    return [copy(page) for page in _pages(str(PAGES), listed)]


@cached(4)
def _pages(folder: str, listed: tuple[tuple[str, str, str], ...]) -> list[StreamlitPage]:
    return [
        st.Page(f"{folder}/{key}.py", title=title, icon=icon, default=not index)
        for index, (key, title, icon) in enumerate(listed)
    ]


def tidy(page: str) -> None:
    """Set the width of the text column for every page, and how a lesson's text looks.

    page: its name, for what is said on the first one alone.
    """
    projects = class_session.projects()
    style = STYLE + (_PROJECTOR if projects else "")
    st.html(style)  # one element: each costs its way to the browser
    with st.container():  # which stays when its bar goes: what is below keeps its place
        if projects:
            classroom.before_projector()
        classroom.bar()
        languages.offer(page)


def text_box(
    state: PageState,
    *,
    label: str = "",
    height: int = 110,
    then: Callable[[], None] | None = None,
    shown: str | None = None,
) -> str:
    """Show the box for the learner's text, with examples to start from, and return the text.

    then: called after a change. shown: what stands there until something is typed, where the page
    reads another text till then.
    """
    examples(state, EXAMPLES, then=then)
    with st.container(gap=None):
        text_area(
            state, LEARNER_TEXT.key, label or words.your_text, then, shown=shown, height=height
        )
        text_guard(words.half_character)
    return state[LEARNER_TEXT.key]


def live_text_box(state: PageState, *, label: str, height: int, shown: str) -> None:
    """Show the box of a text that the page follows while it is typed; Enter sends it at once.

    shown: what it holds, where the text in force is not the one of the link.
    """
    with st.container(gap=None, key=f"lv-live-{state.page}"):
        locked = LEARNER_TEXT.key in state.locked
        bound = state.bind(LEARNER_TEXT.key, shown=shown)
        st.text_area(label, height=height, disabled=locked, label_visibility="collapsed", **bound)
        text_guard(words.half_character, lock=state.locked.get(LEARNER_TEXT.key, ""))


def examples(
    state: PageState,
    texts: Mapping[str, str],
    place: str = "",
    then: Callable[[], None] | None = None,
) -> None:
    """Show texts to start from, each by its name; place: which of several on the page it is.

    then: called after a change.
    """

    def take(name: str) -> None:
        state[LEARNER_TEXT.key] = texts[name]
        if then is not None:
            then()

    key = f"_examples{place}@{state.page}"
    suggest(
        words.examples_label,
        list(texts),
        take,
        key=key,
        label_visibility="collapsed",
        format_func=_named,
    )


def _named(example: str) -> str:
    names: dict[str, str] = words.example_names
    return names.get(example, example)


def sidebar() -> None:
    """Show what every page shares beside the list of lessons."""
    st.session_state[THROUGH_APP] = True
    with st.sidebar:
        course.search()
        runs.search()
        classroom.box()
        languages.switch()
        st.caption(as_markdown(words.about))
        browser.remember()  # the last: nothing moves when it has done so
