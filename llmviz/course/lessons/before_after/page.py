"""The page of the two tests: ten questions, one in own words, and how both tests went.

What a visitor answered is kept in the session, and in the visitor's browser.
"""

import json
from dataclasses import asdict, dataclass, field
from functools import partial

import streamlit as st

from llmviz.corpus.words import CAPITALS
from llmviz.course.components.test_keeper.view import test_keeper
from llmviz.course.document.marks import as_markdown, unmarked
from llmviz.course.lessons.before_after import AFTER, BEFORE, class_view, words
from llmviz.course.lessons.before_after.questions import (
    MODEL,
    Continued,
    all_asks,
    continued,
    questions,
    test_of,
    why,
)
from llmviz.course.lessons.before_after.two_tests import TESTS
from llmviz.course.ui import class_question, engine, kit
from llmviz.course.ui.class_answers import MOST, name_of
from llmviz.course.ui.classes import OpenClass
from llmviz.course.ui.contents import WAY
from llmviz.course.ui.engine_ready import engine_ready

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


def sheet_of() -> Sheets:
    return st.session_state.setdefault(_SHEETS, read(""))


def keep() -> None:
    """Let the browser keep the sheets as they are now, once it has said what it kept before."""
    asks = not st.session_state.get(_HEARD, False)
    test_keeper("" if asks else written(sheet_of()), asks=asks, on_kept=_take, key=_KEEPER)


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
            kept, now = read(text), sheet_of()
            st.session_state[_SHEETS] = {
                when: kept[when] if sheet == Sheet() else sheet for when, sheet in now.items()
            }


def draw(state: kit.PageState) -> None:
    """Show a test, what a class answered, and once both are done, how they went."""
    if not engine_ready():
        return
    keep()
    if (way := state[WAY.key]) in words.seen:
        with st.container(border=True):
            st.subheader(words.seen_title, anchor=False)
            kit.prose(words.seen[way])
    kit.choose(state, "when", words.when_label, words.when)
    when, swapped = state["when"], state["swapped"]
    group = class_question.of_this_window()
    leads = class_question.leads()
    where = "alone" if group is None else "leads" if leads else "follows"
    kit.prose(words.where[where], code=group.code if group else "")
    test = test_of(when, swapped=swapped)
    ten = questions(test)
    if (listed := st.session_state.get(kit.QUESTIONS)) is not None:
        listed += [question for question in ten if question not in listed]
    sheet = sheet_of()[when]
    st.header(words.title_of[when], anchor=False)
    for number, question in enumerate(ten, 1):
        _ask(number, len(ten), question, when, test, sheet)
    _own_words(when, test, sheet)
    _ending(when, test, sheet)
    if group is not None and leads:
        class_view.draw(group, when)
    elif group is not None:
        _tell(group, when, test, sheet)
    with st.expander(words.study, icon=":material/science:"):
        st.toggle(words.swap, help=words.swap_help, **state.bind("swapped"))


def _ask(
    number: int, count: int, question: kit.Question, when: str, test: str, sheet: Sheet
) -> None:
    key = f"_test.{when}.{question_name(question)}"
    chosen = sheet.answers.get(question_name(question))
    st.session_state[key] = chosen if chosen in question.order else None

    def answer() -> None:
        held = sheet_of()[when]
        held.test, held.answers[question_name(question)] = test, st.session_state[key]

    with st.container(border=True):
        st.caption(words.number.format(number=number, all=count))
        kit.prose(question.text)
        st.radio(
            words.label,
            question.order,
            index=None,
            format_func=lambda at: as_markdown(question.answers[at]),
            key=key,
            label_visibility="collapsed",
            disabled=sheet.done,
            on_change=answer,
        )


def question_name(question: kit.Question) -> str:
    """Return by what an answer to a question is kept: another one when its words change."""
    return name_of(unmarked(question.text), question.answers)


def about(test: str) -> Continued | None:
    """Return what the model wrote; None, after one clear line, where it is not in this copy."""
    try:
        return continued(engine.load(MODEL), test)
    except ValueError:
        return None


def _own_words(when: str, test: str, sheet: Sheet) -> None:
    found = about(test)
    if found is None:
        kit.no_model(MODEL)
        return
    key = f"_test.{when}.own"
    st.session_state[key] = sheet.own

    def write() -> None:
        held = sheet_of()[when]
        text = st.session_state[key].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        held.test, held.own = test, text[:MOST]

    with st.container(border=True):
        kit.prose(why(found))
        st.caption(words.given)
        st.text(found.beginning)
        st.caption(words.wrote)
        st.text(found.written)
        st.text_area(
            words.own_label,
            key=key,
            max_chars=MOST,
            disabled=sheet.done,
            on_change=write,
            height=110,
        )


def _ending(when: str, test: str, sheet: Sheet) -> None:
    ten = questions(test)
    answered = sum(question_name(question) in sheet.answers for question in ten)
    held = sheet_of()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(words.so_far.format(answered=answered, all=len(ten)))
        if not sheet.done:
            st.button(
                words.done,
                key="_test_done",
                type="primary",
                disabled=not (answered or sheet.own),
                on_click=partial(_set, when, "done", True),
            )
        else:
            undo = partial(_set, when, "done", False)
            st.button(words.undo, key="_test_undo", on_click=undo)
        if any(kept != Sheet() for kept in held.values()):
            st.button(words.forget, key="_test_forget", type="tertiary", on_click=forget)
    both = all(kept.done for kept in held.values())
    if sheet.done and not both and not sheet.looked:
        st.info(words.waits, icon=":material/hourglass_empty:")
        look = partial(_set, when, "looked", True)
        st.button(
            words.look, key="_test_look", type="tertiary", help=words.look_help, on_click=look
        )
    for time in (BEFORE, AFTER):
        if held[time].done and (both or held[time].looked):
            _went(time, held[time])


def _set(when: str, name: str, value: bool) -> None:
    setattr(sheet_of()[when], name, value)


def _went(when: str, sheet: Sheet) -> None:
    ten = questions(sheet.test)
    chosen = [sheet.answers.get(question_name(question)) for question in ten]
    right = sum(at == question.right for at, question in zip(chosen, ten, strict=True))
    with st.container(border=True):
        head = words.result.format(title=words.title_of[when], right=right, all=len(ten))
        st.subheader(head, anchor=False)
        for number, (at, question) in enumerate(zip(chosen, ten, strict=True), 1):
            kit.prose(words.reason.format(number=number, text=question.text))
            answers, place = question.answers, question.right
            said = answers[at] if at in question.order else words.none
            kit.prose(words.you[at == place].format(answer=said, right=answers[place]))
            kit.prose(question.reasons[place])
        if sheet.own:
            st.caption(words.own_words)
            st.text(sheet.own)
        found = about(sheet.test)
        if found is not None and not found.was_read:
            share = kit.percent(found.share)
            kit.prose(words.unread, country=found.country, count=len(CAPITALS), share=share)


def _tell(group: OpenClass, when: str, test: str, sheet: Sheet) -> None:
    *asks, own = all_asks()[when, test]
    chosen = {
        ask.name: sheet.answers.get(question_name(question))
        for ask, question in zip(asks, questions(test), strict=True)
    }
    class_question.tell(group, chosen, (own.name, sheet.own if sheet.test == test else ""))
