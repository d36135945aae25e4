"""The page of the two tests: ten questions, one in own words, and how both tests went."""

from functools import partial

import streamlit as st

from llmviz.corpus.words import CAPITALS
from llmviz.course.document.marks import as_markdown, unmarked
from llmviz.course.lessons.before_after import class_view, sheets, words
from llmviz.course.lessons.before_after.params import AFTER, BEFORE
from llmviz.course.lessons.before_after.questions import (
    MODEL,
    Continued,
    all_asks,
    continued,
    questions,
    test_of,
    why,
)
from llmviz.course.lessons.before_after.sheets import Sheet
from llmviz.course.ui import class_question, engine, kit
from llmviz.course.ui.class_answers import MOST, name_of
from llmviz.course.ui.classes import OpenClass
from llmviz.course.ui.contents import WAY
from llmviz.course.ui.engine_ready import engine_ready


def draw(state: kit.PageState) -> None:
    """Show a test, what a class answered, and once both are done, how they went."""
    if not engine_ready():
        return
    sheets.keep()
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
    if (listed := st.session_state.get(kit.ASKED)) is not None:
        listed += [question for question in ten if question not in listed]
    sheet = sheets.held()[when]
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
        held = sheets.held()[when]
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
        held = sheets.held()[when]
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
    held = sheets.held()
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
            st.button(words.forget, key="_test_forget", type="tertiary", on_click=sheets.forget)
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
    setattr(sheets.held()[when], name, value)


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
    """Count a follower's answers in the class."""
    *asks, own = all_asks()[when, test]
    chosen = {
        ask.name: sheet.answers.get(question_name(question))
        for ask, question in zip(asks, questions(test), strict=True)
    }
    class_question.tell(group, chosen, (own.name, sheet.own if sheet.test == test else ""))
