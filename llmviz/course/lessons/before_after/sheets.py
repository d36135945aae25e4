"""What a visitor answered in the two tests: kept in the session, and in the visitor's browser."""

import json
from dataclasses import asdict, dataclass, field

import streamlit as st

from llmviz.course.components.test_keeper.view import test_keeper
from llmviz.course.lessons.before_after.params import AFTER, BEFORE
from llmviz.course.lessons.before_after.two_tests import TESTS
from llmviz.course.ui.class_answers import MOST

LONGEST = 20_000  # characters that a browser may have kept
MOST_ANSWERS = 60  # of both tests, with some of an older state of the questions
_SHEETS, _HEARD = "_two_tests", "_two_tests_heard"  # in the session
_KEEPER = "test_keeper"


@dataclass
class Sheet:
    """The answers before the course, or after it.

    test: which one was taken, "a" or "b". answers: by the name of a question. own: the answer in
    own words. done: no answer is changed any more. looked: the visitor asked to see the right ones.
    """

    test: str = ""
    answers: dict[str, int] = field(default_factory=dict)
    own: str = ""
    done: bool = False
    looked: bool = False


Sheets = dict[str, Sheet]


def written(sheets: Sheets) -> str:
    """Return sheets as a browser keeps them; an empty text where nothing was answered."""
    if all(sheet == Sheet() for sheet in sheets.values()):
        return ""
    return json.dumps({when: asdict(sheet) for when, sheet in sheets.items()})


def read(text: object) -> Sheets:
    """Return the sheets that a browser kept; empty ones for what is none."""
    sheets = {BEFORE: Sheet(), AFTER: Sheet()}
    if not isinstance(text, str) or len(text) > LONGEST:
        return sheets
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError):
        return sheets
    for when in (BEFORE, AFTER):
        match kept.get(when) if isinstance(kept, dict) else None:
            case {
                "test": str(test),
                "answers": dict(answers),
                "own": str(own),
                "done": bool(done),
                "looked": bool(looked),
            } if test in ("", *TESTS) and len(answers) <= MOST_ANSWERS:
                whole = {name: at for name, at in answers.items() if type(at) is int}
                own = own.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
                sheets[when] = Sheet(test, whole, own[:MOST], done and bool(test), looked)
    return sheets


def held() -> Sheets:
    """Return this visitor's sheets."""
    return st.session_state.setdefault(_SHEETS, read(""))


def keep() -> None:
    """Let the browser keep the sheets as they are now, once it has said what it kept before."""
    asks = not st.session_state.get(_HEARD, False)
    test_keeper("" if asks else written(held()), asks=asks, on_kept=_take, key=_KEEPER)


def forget() -> None:
    """Forget all answers, here and in the browser."""
    st.session_state[_SHEETS], st.session_state[_HEARD] = read(""), True


def _take() -> None:
    """Take what the browser kept; what was answered in the meantime stays."""
    if st.session_state.get(_HEARD):
        return
    st.session_state[_HEARD] = True
    match (st.session_state.get(_KEEPER) or {}).get("kept"):
        case [text, *_]:
            kept, now = read(text), held()
            st.session_state[_SHEETS] = {
                when: kept[when] if sheet == Sheet() else sheet for when, sheet in now.items()
            }
