"""Chapter "Following instructions": questions with answers, the mask, and what is forgotten."""

import contextlib

import streamlit as st

from llmviz.course.lessons.finetuning import tuned_model
from llmviz.course.lessons.finetuning.instructions import forgetting, mask, side_by_side, words
from llmviz.course.ui import engine, kit
from llmviz.finetuning.instructions import Instruction, ask, instructions
from llmviz.finetuning.plan import BASE
from llmviz.textfile import check_text

OFFERED = 24  # stories that “Another story” goes through
TOLD = "finetuning.instructions.told"  # in the session: the number of the last of them


def ahead() -> None:
    """Measure what was forgotten, which no visitor changes."""
    if BASE in engine.names():
        with contextlib.suppress(ValueError):  # the page says what is wrong
            forgetting.measured(tuned_model.base())


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    _controls(state)
    ends: dict[str, str] | None = None
    if not kit.models_here(BASE):
        return
    try:
        story, question = (check_text(state[key]) for key in ("story", "question"))
        if not question.strip():
            raise ValueError(words.empty)
        answer = known_answer(story, question) or typed_answer(check_text(state["reply"]))
        instruction = Instruction(story, question, answer)
        side_by_side.draw(instruction)
        ends = mask.draw(instruction)
    except ValueError as error:
        kit.refuse(error)
    forgot = forgetting.draw()
    if ends and forgot:
        kit.seen(words.end, **ends, **forgot)


def _controls(state: kit.PageState) -> None:
    """Show the story, the questions that can be asked about it, and the learner's own question."""
    kit.text_area(state, "story", words.story_label, height=130, help=words.story_help)

    def another() -> None:
        number = st.session_state.get(TOLD, -1) + 1
        st.session_state[TOLD] = number
        offer = offered()[number % OFFERED]
        state["story"], state["question"], state["reply"] = offer.story, offer.question, ""

    st.button(words.another, icon=":material/autorenew:", on_click=another, key="another.story")
    story = state["story"]
    questions = askable(story)

    def take(question: str) -> None:
        state["question"], state["reply"] = question, ""

    if questions:
        key = "_finetuning.instructions.asked"
        kit.suggest(words.askable, list(questions), take, key=key, format_func=kit.escape_markdown)
    kit.text_input(state, "question", words.question_label)
    if state["question"].strip() and not known_answer(story, state["question"]):
        kit.text_input(state, "reply", words.reply_label, help=words.reply_help)
        if not state["reply"].strip():
            kit.inform(words.by_tuned, ":material/help:")


@kit.kept(64)
def askable(story: str) -> dict[str, str]:
    """Return the questions that the grammar can answer about a story, with their answers."""
    return {task.question: task.answer for task in ask(story)}


def known_answer(story: str, question: str) -> str:
    """Return the right answer as the grammar knows it, or nothing."""
    known = {known_question.casefold(): answer for known_question, answer in askable(story).items()}
    return known.get(question.strip().casefold(), "")


def typed_answer(written: str) -> str:
    """Return a learner's answer without its full stop, which every reply gets."""
    return written.strip().rstrip(".").strip()


@kit.kept(1)
def offered() -> list[Instruction]:
    """Return the stories of “Another story”, with a question each; nothing was trained on them."""
    return instructions(OFFERED, seed=1)
