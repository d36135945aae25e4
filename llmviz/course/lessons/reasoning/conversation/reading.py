"""The reply to the learner's conversation, and the one text token by token."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.reasoning.conversation import words
from llmviz.course.lessons.reasoning.conversation.chat_model import bundled
from llmviz.course.lessons.reasoning.conversation.chat_prompts import OWN
from llmviz.course.lessons.reasoning.conversation.chat_reading import (
    ChatToken,
    Written,
    reply,
    tokens_of,
)
from llmviz.course.lessons.reasoning.conversation.params import MOST_TURNS
from llmviz.course.lessons.reasoning.conversation.talk import add_turns
from llmviz.course.ui import kit
from llmviz.finetuning.conversations import ASKS, ASSISTANT, BEGINNINGS, DECLINES, USER, Message
from llmviz.tokenizers import Token

Talk = tuple[Message, ...]


@kit.kept(256)
def reply_to(messages: Talk, shape: str = OWN) -> Written:
    """Return what the bundled model replies."""
    return reply(messages, shape)


@kit.kept(64)
def read(messages: Talk, shape: str = OWN) -> list[ChatToken]:
    """Return the tokens of a conversation."""
    return tokens_of(messages, shape)


def draw_reply(state: kit.PageState, messages: Talk) -> Written | None:
    """Show the reply and its probabilities; None, after one clear line, where there is none."""
    kit.section(words.reply)
    written = kit.or_refused(reply_to, messages)
    if written is None:
        return None
    kit.prose(words.replied, text=kit.quote(written.text, 160))
    if not written.ended:
        kit.inform(words.cut.format(tokens=len(written.tokens)), ":material/content_cut:")
    rest = max(0.0, 1 - written.asks - written.declines)
    chances = [kit.percent(chance) for chance in (written.asks, written.declines, rest)]
    kit.rows_table(zip(words.acts, chances, strict=True), words.act_columns, height="content")
    ways = {act: " or ".join(map(kit.quote, BEGINNINGS[act])) for act in (ASKS, DECLINES)}
    kit.prose(words.act_read, asks=ways[ASKS], declines=ways[DECLINES])
    token_strip(
        [chance_row(written)],
        key="reasoning.conversation.reply",
        show_ids=False,
        value_label=words.chance,
        value_range=(0.0, 1.0),
    )
    if len(messages) < MOST_TURNS and written.text:
        turns = (Message(ASSISTANT, written.text), Message(USER, ""))
        st.button(
            words.take,
            icon=":material/reply:",
            key="reasoning.conversation.take",
            on_click=partial(add_turns, state, *turns),
        )
    if sum(len(message.content) for message in messages) <= kit.IN_SNIPPET:
        given = ", ".join(f"Message({message.role!r}, {message.content!r})" for message in messages)
        kit.show_code(
            [tokens_of, reply],
            "from llmviz.finetuning.conversations import Message\n"
            "from llmviz.course.lessons.reasoning.conversation.chat_reading import reply\n\n"
            f"print(reply([{given}]).text)",
            written.text,
        )
    return written


def draw_tokens(messages: Talk) -> None:
    """Show the one text, a row of chips for each turn."""
    kit.section(words.tokens)
    tokens = read(messages)
    most = bundled().context_length
    token_strip(
        rows_of(messages, tokens[:most]),
        key="reasoning.conversation.strip",
        value_label=words.value,
        value_range=(-1.0, 1.0),
    )
    if len(tokens) > most:
        kit.inform(words.too_many.format(all=len(tokens), most=most), ":material/content_cut:")
    counted = sum(token.counts for token in tokens)
    kit.prose(words.counts_read, counted=counted, all=len(tokens))


def rows_of(messages: Talk, tokens: list[ChatToken]) -> list[TokenRow]:
    """Return a row for the beginning, one for each turn, and one for where the reply comes."""
    names = [words.start_row, *(message.role for message in messages), words.waits]
    rows = []
    for at, name in enumerate(names, -1):
        mine = [token for token in tokens if token.message == at]
        if mine:
            spoken = any(token.counts for token in mine)
            note = words.counted if spoken else words.masked
            rows.append(row_of(mine, name, "" if at == len(messages) else note))
    return rows


def row_of(tokens: list[ChatToken], name: str, note: str = "") -> TokenRow:
    """Return tokens as a row of chips: 1 where the loss counts one, −1 where one is special."""
    labels = words.details
    details = [
        {
            labels["kind"]: words.kinds["special" if token.special else "text"],
            labels["loss"]: words.counted if token.counts else words.masked,
        }
        for token in tokens
    ]
    values = [1.0 if token.counts else -1.0 if token.special else 0.0 for token in tokens]
    chips = chips_of([(token.id, token.text) for token in tokens])
    return TokenRow(name, chips, note, values, details)


def chance_row(written: Written) -> TokenRow:
    """Return the tokens of a reply, with the probability of each as its colour."""
    chances = [chance for _, _, chance in written.tokens]
    details = [{words.chance: kit.percent(chance)} for chance in chances]
    chips = chips_of([(token, text) for token, text, _ in written.tokens])
    return TokenRow("", chips, values=chances, details=details)


def chips_of(tokens: Sequence[tuple[int, bytes]]) -> list[Token]:
    """Return ids with their bytes as tokens that stand one behind the other."""
    chips, at = [], 0
    for token, text in tokens:
        chips.append(Token(token, text, at, at + len(text), at, at + len(text)))
        at += len(text)
    return chips
