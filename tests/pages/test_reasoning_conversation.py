"""The chapter "A conversation is one text": any turns, what is said of them, and typed tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.components import unpack
from llmviz.course.lessons.reasoning import LESSON
from llmviz.course.lessons.reasoning.conversation import (
    chapter,
    chat_model,
    chat_prompts,
    chat_record,
    measured,
    reading,
    talk,
    typed,
    words,
)
from llmviz.course.lessons.reasoning.conversation.params import FIRST, LONGEST, MOST_TURNS, STORY
from llmviz.finetuning.conversations import Message
from llmviz.finetuning.instructions import ask
from tests.pages.harness import fine, open_part, prose_of

pytestmark = pytest.mark.skipif(
    "conversation" not in LESSON.names, reason="the chapter is listed once its record is made"
)
CONTENTS = ["", "  ", "Who has it?", "<b>bold</b> $x$ [a](b) {x}", "¿Qué? 猫 🙂", "<|end|>"]
SAID = "The model replies:"


def turns(*given: tuple[str, str]) -> dict[str, str]:
    """A link to a conversation."""
    link = {"chatturns": str(len(given))}
    for at, (role, content) in enumerate(given, 1):
        link |= {f"chatrole{at}": role, f"chattext{at}": content}
    return link


def open_with(**link: str):
    return open_part("reasoning", "conversation", show="1", **link)


def test_the_story_of_the_first_conversation_has_two_things_and_its_reply_is_right():
    assert sum(one.kind == "who" for one in ask(STORY)) == 2
    answers = {one.question: one.answer for one in ask(STORY)}
    assert answers["Where did they meet?"].lower() in FIRST[2][1]
    asked = chapter.question()
    acts = ("answers", "asks", "declines")
    assert acts[asked.right] == reading.reply_to(tuple(Message(*one) for one in FIRST)).act


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([("user", "")], words.empty_all),
        ([("user", " "), ("system", "\n")], words.empty_all),
        ([("system", "Answer in a few words.")], words.strange["no_user"]),
        ([("user", "Hello."), ("user", "Who has it?")], words.strange["twice"]),
        ([("user", "Hello."), ("assistant", "Yes.")], words.strange["not_user_last"]),
        ([("user", "¿Qué? 猫 🙂")], "¿ é 猫 🙂"),
        ([("user", "Hello."), ("assistant", ""), ("user", "Who?")], "Turn 2 is empty"),
        ([("user", "<b>bold</b> <script>alert(1)</script> $x$ [a](http://b.c)")], None),
    ],
)
def test_any_turns_are_shown_with_what_is_strange_about_them(given, said):
    page = open_with(**turns(*given))
    fine(page)
    if said is not None:
        assert said in " ".join(one.value.replace("\\", "") for one in page.info)
    assert (SAID in prose_of(page)) == (said != words.empty_all)
    assert [area.value for area in page.text_area] == [content for _, content in given]


def test_a_conversation_beyond_the_context_is_refused_and_stays():
    long = "Who has the mat? " * (LONGEST // 17)
    page = open_with(**turns(("user", long), ("assistant", long), ("user", long)))
    assert not page.exception
    assert any("256 at most" in one.value for one in page.error)
    assert SAID not in prose_of(page)
    assert [area.value for area in page.text_area] == [long] * 3
    assert words.tokens.title in [one.value for one in page.header]


@given(
    st.lists(
        st.tuples(st.sampled_from(["system", "user", "assistant"]), st.sampled_from(CONTENTS)),
        min_size=1,
    )
)
def test_rows_of_chips_are_the_prompt(given):
    messages = tuple(Message(*one) for one in given)
    rows = reading.rows_of(messages, reading.read(messages))
    ids = [token.id for row in rows for token in row.tokens]
    assert tuple(ids) == chat_prompts.prompt_of(messages)
    assert [row.name for row in rows] == [words.start_row, *(r for r, _ in given), words.waits]
    for row, (role, _) in zip(rows[1:-1], given, strict=True):
        assert row.note == (words.counted if role == "assistant" else words.masked)
        assert (1.0 in row.values) == (role == "assistant")
        assert row.values[0] == -1.0


def test_typed_tokens_stand_as_text_and_as_tokens():
    rows = typed.rows_of("<|end|><|user|> a")
    special = set(chat_model.tokenizer().special_tokens.values())
    found = [[token.id in special for token in row.tokens] for row in rows]
    assert [sum(one) for one in found] == [0, 2]
    assert [[value < 0 for value in row.values] for row in rows] == found


@pytest.mark.parametrize("content", ["", "   ", "<|end|><|assistant|>", "🙂<b>", "x" * 400])
def test_anything_may_be_typed_in_front(content):
    page = open_with(chattyped=content)
    fine(page)
    said = [one.value.replace("\\", "") for one in page.info]
    assert (words.no_typed in said) == (not content.strip())


def test_what_is_typed_stands_in_front_of_the_last_turn_of_the_user():
    one, two = Message("user", "a"), Message("assistant", "b")
    assert typed.typed_into((one, two), "T") == (Message("user", "T a"), two)
    assert typed.typed_into((two,), "T") == (Message("assistant", "T b"),)


def test_offered_conversations_end_with_a_question_and_fit():
    for offer in talk.offered():
        assert offer[-1].role == "user"
        assert len(offer) <= MOST_TURNS
        assert max(len(one.content) for one in offer) <= LONGEST
        assert len(chat_prompts.prompt_of(offer)) < 256


def test_the_buttons_add_turns_take_them_out_and_take_the_reply():
    page = open_with()
    page.button(key="reasoning.conversation.take").click().run()
    fine(page)
    contents = [area.value for area in page.text_area]
    assert contents[: len(FIRST)] == [content for _, content in FIRST]
    reply = reading.reply_to(tuple(Message(*one) for one in FIRST)).text
    assert contents[len(FIRST) :] == [reply, ""]
    page.button(key="reasoning.conversation.remove").click().run()
    page.button(key="reasoning.conversation.another").click().run()
    fine(page)
    assert [area.value for area in page.text_area] == [one.content for one in talk.offered()[0]]


def test_the_tables_and_sentences_say_what_was_recorded():
    models = chat_record.recorded()
    rows = {name: cells for name, *cells in measured.rows()}
    shares = [one.settings["own"].right.value for one in models[chat_model.REPLIES]]
    assert rows[words.mask_rows["right"]][0] == ", ".join(f"{100 * s:.1f}\u00a0%" for s in shares)
    page = open_with()
    strips = [unpack(one.proto.bytes) for one in page.get("bidi_component")]
    assert any("rows" in one for one in strips)
    shares = [measured.right(shape).value for shape in chat_prompts.WRONG]
    asked = chapter.wrong.wrong_question()
    assert shares[asked.right] == min(shares)


@pytest.mark.parametrize(
    ("alone", "tokens", "said"),
    [
        (0.571, 0.586, "the words that worked"),
        (0.3, 0.586, "can still be obeyed"),
        (0.01, 0.02, "replies."),
    ],
)
def test_words_alone_are_told_beside_the_same_words_with_their_tokens(alone, tokens, said):
    told = " ".join(typed.words_read(alone, tokens).split())
    assert told.rstrip().endswith(said) or said in told
    assert ("added next to nothing" in told) == (alone > typed.FEW and abs(alone - tokens) < 0.05)
