"""The chapter "A conversation is one text": any turns, what is said of them, and typed tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning import LESSON
from llmviz.course.lessons.reasoning import conversation as talk
from llmviz.course.lessons.reasoning.conversation import chapter, chat_prompts, chat_record, words
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
    assert sum(one.kind == "who" for one in ask(talk.STORY)) == 2
    answers = {one.question: one.answer for one in ask(talk.STORY)}
    assert answers["Where did they meet?"].lower() in talk.FIRST[2][1]
    reply = chapter.reply_to(tuple(Message(*one) for one in talk.FIRST)).text
    assert reply.endswith("?") and "diamond" in reply and "lens" in reply


def test_exchanged_roles_are_asked_for_with_what_two_mistaken_readers_would_say():
    asked, own = chapter.question(), chapter.right(chat_prompts.OWN).value
    share = chapter.right(chat_prompts.SWAPPED).value
    assert asked.values == [(0.0,), (own / 2,), (share,)] and asked.right == 2
    assert min(abs(share - wrong) for (wrong,) in asked.values[:2]) > 0.15


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
    long = "Who has the mat? " * (talk.LONGEST // 17)
    page = open_with(**turns(("user", long), ("assistant", long), ("user", long)))
    assert not page.exception
    assert any("256 at most" in one.value for one in page.error)
    assert SAID not in prose_of(page)
    assert [area.value for area in page.text_area] == [long] * 3
    assert words.talk.title in [one.value for one in page.header]


@given(
    st.lists(
        st.tuples(st.sampled_from(["system", "user", "assistant"]), st.sampled_from(CONTENTS)),
        min_size=1,
    ),
    st.sampled_from(talk.SHAPES),
)
def test_the_chips_are_the_prompt(given, shape):
    messages = tuple(Message(*one) for one in given)
    row = chapter.row_of(chapter.read(messages, shape), "")
    assert tuple(token.id for token in row.tokens) == chat_prompts.prompt_of(messages, shape)
    if shape == chat_prompts.OWN:
        assert (1.0 in row.values) == any(role == "assistant" for role, _ in given)
        assert -1.0 in row.values


def test_the_buttons_add_turns_take_them_out_and_take_the_reply():
    page = open_with()
    page.button(key="reasoning.conversation.reply").click().run()
    fine(page)
    contents = [area.value for area in page.text_area]
    assert contents[: len(talk.FIRST)] == [content for _, content in talk.FIRST]
    reply = chapter.reply_to(tuple(Message(*one) for one in talk.FIRST)).text
    assert contents[len(talk.FIRST) :] == [reply, ""]
    page.button(key="reasoning.conversation.remove").click().run()
    fine(page)
    assert [area.value for area in page.text_area] == [
        *(content for _, content in talk.FIRST),
        reply,
    ]


def test_rows_say_what_was_recorded():
    models = chat_record.recorded()
    rows = {row.label: row for row in chapter.mask_rows()}
    for way, said in words.ways.items():
        row = rows[words.mask_row.format(does=words.mask_rows["right"], way=said)]
        shares = [one.settings["own"].right for one in models[way]]
        assert list(row.dots) == [share.value for share in shares]
        whole = sum(share.hits for share in shares) / sum(share.of for share in shares)
        assert row.value == pytest.approx(whole)


@pytest.mark.parametrize("shape", talk.SHAPES)
def test_a_reply_of_exchanged_roles_waits_for_the_guess(shape, covers):
    page = open_part("reasoning", "conversation", chatshape=shape)
    fine(page)
    assert (SAID in prose_of(page)) == (shape != "swapped")
