"""A guess: asked once, on a picture or in a list; it ends for everybody with what is right."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from llmviz.course.components._shared.transport import component_key
from llmviz.course.components.case_rows.view import Axis, Case
from llmviz.course.components.progress.view import note_answer
from llmviz.course.document.marks import unmarked
from llmviz.course.ui.class_question import OnPicture, shown_of, thinks
from llmviz.course.ui.guess_drawn import DrawnGuess, words
from llmviz.course.ui.guess_given import HERE, SHOWN
from llmviz.course.ui.guess_made import made
from llmviz.course.ui.notices import wrong
from llmviz.course.ui.prose import prose, to_html
from llmviz.course.ui.question import Question
from llmviz.course.ui.text import escape_markdown

BOX = "lv-guess-"  # begins the name of the block of a question, before its key
IN_LINE = 110  # characters of all answers that stand beside each other above a picture
# In the session:
_HEAD = "_guess_head"  # the place above a picture where its question will stand
FOLDED = "_folded"  # what a folded stop of the hour ends with, beside its answer
QUESTIONS = "_asked"  # where somebody lists them: the questions of the page
_FIRST = "_first_guess"  # by chapter: the key of its first question
_ENDED = "_guess_ended"  # by slot, of one that came to its end: asked, guessed, right, why

_ESCAPED = re.compile(r"\\([^\w\s])")  # a sign that Markdown shows as it is


def keep_head(block: Any, *, for_lists: bool = True) -> None:
    """Keep the top of a stage, or of a section, for the question about the picture below.

    for_lists: also for one that is answered in a list.
    """
    st.session_state[_HEAD] = block.container(), for_lists


def take_head(*, by_hand: bool = False) -> Any:
    """Return the place that is kept for a question, once; None: there is none."""
    head, for_lists = st.session_state.pop(_HEAD, (None, True))
    return head if for_lists or by_hand else None


@dataclass
class Guess(DrawnGuess):
    """The guess of a chapter about its picture, which has no question where there is no answer.

    key: its name in the chapter. seen: the visitor has moved the control so far that it shows.
    by_hand: it is made on a picture; what `cases`, `line` and `cell` draw says so by itself. leads:
    the state that it is about, as a look has it (`temperature=0.5`): there the page goes once.
    """

    def ask(self) -> bool:
        """Ask before the numbers are shown; then say what is right, and why.

        The question stands above the picture where a stage keeps its place, else here. So do a bar
        of its own, answers to choose from that fit into a line, and what is right in the end.
        Returns whether what would give the answer away may be shown: `open`.
        """
        question, head = self.question, take_head(by_hand=self.by_hand)
        if question is None:
            self._before()
            return True
        if (listed := st.session_state.get(QUESTIONS)) is not None and question not in listed:
            listed.append(question)
        if head is not None:
            with head:
                self._text(question)
        own_axis = question.share and not self.by_hand
        in_line = not own_axis and sum(map(len, question.answers)) <= IN_LINE
        above = head is not None and not self.by_hand and (own_axis or in_line)
        above = above and st.session_state.get(FOLDED) is None
        bare = head is not None and not self._done and (self.by_hand or above)
        box = head if above else st.container()
        with box.container(border=not bare, key=f"{BOX}{self.key}"):
            if head is None:
                self._text(question)
            if own_axis:
                self._axis(question)
            row = st.container(horizontal=above, vertical_alignment="center", gap="small")
            if not (own_axis or self.by_hand):
                with row:
                    self._list(question, in_line=above)
            draw = st.session_state.get(f"{self._slot}.class")
            picture = OnPicture(self.own or (), draw) if draw else None
            chosen = self._answer.chosen if self._answer else None
            thinks(question.text, question.answers, question.right, question.order, chosen, picture)
            if self._done:
                self._end(question)
            elif self.asks:
                press: dict[str, Any] = {"on_click": self._give, "args": (SHOWN,)}
                row.button(words.show, key=f"{self._slot}.show", type="tertiary", **press)
        return self.open

    def _text(self, question: Question) -> None:
        key = escape(self.key, quote=True)
        text = f"<b>{words.mark}</b> {to_html(question.text)}"
        st.html(f'<div class="lv-ask" data-ask="{key}">{text}</div>')

    def _list(self, question: Question, *, in_line: bool) -> None:
        """Show the answers to choose from; once it is told, the right one is marked."""
        if not self._done:
            name = f"{self._slot}.list"
            st.radio(
                words.answer_label,
                question.order,
                index=None,
                format_func=lambda index: question.answers[index],
                key=name,
                label_visibility="collapsed",
                horizontal=in_line,
                on_change=lambda: self.choose(st.session_state.get(name)),
            )
            return
        chosen = self._answer.chosen if self._answer else None
        lines = []
        for at in question.order:
            mark = "check_circle" if at == question.right else "radio_button_unchecked"
            own = words.yours if at == chosen else ""
            lines.append(f":material/{mark}: {question.answers[at]}{own}")
        st.markdown(("\u2003" if in_line else "  \n").join(lines))

    def _axis(self, question: Question) -> None:
        """Draw the axis of a question for a share, with a handle until it is answered."""
        (right,) = question.values[question.right]
        label = words.bars["told" if self.open else "guess"]
        picture = component_key("guess", self.key)
        self.cases([Case(label, right)], Axis(0, 1), veiled=[0], picture=picture)

    def _end(self, question: Question) -> None:
        """Say what is right, and why; to who answered this very question, also how that was."""
        answer, right = self._answer, question.answers[question.right]
        self._keep(question)
        guess = self._guessed(question)
        if not self.by_hand:  # Markdown, as the list has it
            right, guess = (_ESCAPED.sub(r"\1", text) for text in (right, guess))
        reason, far = question.reasons[question.right], shown_of(question.text, question.answers)
        if answer is not None or self.given is None or self.given.chosen is None:
            ended = question.text, guess, right, reason
            st.session_state.setdefault(_ENDED, {})[self._slot] = ended
        if answer is not None and answer.chosen is not None:
            self._grade(question, answer.chosen, right, line=answer.line)
            if question.reasons[answer.chosen] != reason:
                prose(question.reasons[answer.chosen])
            prose(reason)
        else:
            prose(words.right, right=right)
            if self.given is not None or self._forced or self._linked or self.seen or far > 1:
                prose(reason)
        asks_again = self.leads or not self.seen
        given = self.given is not None or self._linked
        if given and asks_again and not (self._forced or far):
            key = f"{self._slot}.again"
            st.button(words.again, key=key, type="tertiary", on_click=self._again)

    def _before(self) -> None:
        """Where nothing is asked: keep what was told in the state before, if anything was."""
        ended = st.session_state.get(_ENDED, {}).get(self._slot)
        if ended is None or self.given is None:
            return
        text, guess, right, reason = ended
        with st.container(border=True, key=f"{BOX}{self.key}"):
            prose(words.before, text=text)
            if guess:
                prose(words.guessed, guess=guess)
            prose(words.right, right=right)
            prose(reason)

    def _keep(self, question: Question) -> None:
        """Keep what was guessed in the chapter, for the end of a way."""
        session, answer = st.session_state, self._answer
        place = session.get(HERE, "")
        first = session.setdefault(_FIRST, {}).setdefault(place, self.key)
        by_chapter = made()
        if first != self.key or (answer is None and place in by_chapter):
            return  # of another question, or in another state
        texts = question.text, self._guessed(question), question.answers[question.right]
        said = [unmarked(text) for text in texts]
        by_chapter[place] = said[0], said[1], said[2], self.graded

    def _grade(self, question: Question, chosen: int, right: str, *, line: bool) -> None:
        is_right = chosen == question.right
        if here := st.session_state.get(HERE):
            note_answer(here, self.key, is_right, key=component_key("answer", self.key))
        if self.by_hand:
            guess = unmarked(self._written(question))
            told = told_by_hand(question, chosen, guess, line=line)
        else:
            told = words.graded["right" if is_right else "wrong"].format(right=right)
        if is_right:
            st.success(escape_markdown(unmarked(told)), icon=":material/check_circle:")
        else:
            wrong(told)

    def _written(self, question: Question) -> str:
        """Return how the number that was set on the picture is written; "" for no single one."""
        if not self.own or len(self.own) > 1 or not question.write:
            return ""
        (at,) = self.own
        counts = all(isinstance(value, int) for values in question.values for value in values)
        # A place in a list is no float, and nobody means a part of what is counted.
        return question.write(round(at) if counts or at == int(at) else at)

    def _guessed(self, question: Question) -> str:
        """Return what was answered to this very question; "" for nothing."""
        if self._answer is None or self._answer.chosen is None:
            return ""
        return self._written(question) or question.answers[self._answer.chosen]


def told_by_hand(question: Question, chosen: int, guess: str, *, line: bool) -> str:
    """Return what a guess on a picture was, as it is written there, and what is right.

    chosen: the answer that counts. guess: "" where no single number was set; then line tells
    whether one was drawn, or something was only clicked. Whose guess only lies near a wrong answer
    reads that one, which the reason is about.
    """
    is_right = chosen == question.right
    right, nearest = (unmarked(question.answers[at]) for at in (question.right, chosen))
    if not guess and line:
        return words.by_hand["same" if is_right else "other"].format(right=right)
    if not guess:
        return (unmarked(words.right) if is_right else words.graded["wrong"]).format(right=right)
    own_reason = question.reasons[chosen] != question.reasons[question.right]
    case = "said"
    if guess != nearest and (is_right or own_reason):
        case = "near" if is_right else "others"
    return words.by_hand[case].format(guess=guess, right=right, others=nearest)
