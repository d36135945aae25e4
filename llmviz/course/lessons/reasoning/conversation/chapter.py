"""Chapter "A conversation is one text": roles and turns as tokens, and a small chat model."""

import streamlit as st

from llmviz.course.lessons.reasoning.conversation import (
    measured,
    reading,
    talk,
    typed,
    words,
    wrong,
)
from llmviz.course.lessons.reasoning.conversation.chat_model import BATCH, COMMAND, STEPS, bundled
from llmviz.course.lessons.reasoning.conversation.chat_prompts import (
    AS_TEXT,
    AS_TOKENS,
    LINES_ONLY,
    OWN,
)
from llmviz.course.lessons.reasoning.conversation.chat_record import recorded
from llmviz.course.lessons.reasoning.conversation.measured import KEY, right
from llmviz.course.lessons.reasoning.conversation.params import FIRST, STORY
from llmviz.course.ui import kit
from llmviz.finetuning.conversations import ACTS, Message
from llmviz.finetuning.instructions import ask
from llmviz.serving.chat_template import TURN_TOKENS


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro, new=len(TURN_TOKENS), texts=BATCH * STEPS)
    if not kit.is_here(words.missing, COMMAND, recorded, bundled):
        return
    opened = kit.predict(question(), f"{KEY}.act", covers=True)
    messages = talk.edit(state)
    if not messages or not opened:
        return
    written = reading.draw_reply(state, messages)
    reading.draw_tokens(messages)
    measured.draw_mask()
    if not measured.draw_new() or not wrong.draw_wrong(messages):
        return
    if typed.draw(state, messages) and written:
        kit.seen(words.end, **end(messages))


def question() -> kit.Question:
    """Return the question what the model does with the first conversation."""
    written = reading.reply_to(tuple(Message(*turn) for turn in FIRST))
    things = [task.question.split()[-1][:-1] for task in ask(STORY) if task.kind == "who"]
    return kit.Question.of(
        words.ask_act,
        ACTS.index(written.act),
        things=kit.listed([f"a {thing}" for thing in things]),
        reply=kit.quote(written.text, 160),
        asks=kit.percent(written.asks),
        declines=kit.percent(written.declines),
    )


def end(messages: reading.Talk) -> dict[str, object]:
    """Return the numbers of the chapter's end."""
    tokens = reading.read(messages)
    return {
        "tokens": len(tokens),
        "special": sum(token.special for token in tokens),
        "right": kit.percent(right(OWN).value),
        "replies": right(OWN).of // len(recorded()[measured.REPLIES]),
        "lines": kit.percent(right(LINES_ONLY).value),
        "as_tokens": kit.percent(typed.obeyed(AS_TOKENS)),
        "as_text": kit.percent(typed.obeyed(AS_TEXT)),
        "as_words": kit.percent(typed.obeyed(typed.AS_WORDS)),
    }
