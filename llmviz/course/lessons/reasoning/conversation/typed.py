"""A user types the template's tokens: they stay text, and what happens where they do not."""

import re
from dataclasses import replace

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.lessons.reasoning.conversation import words
from llmviz.course.lessons.reasoning.conversation.chat_model import REPLIES, tokenizer
from llmviz.course.lessons.reasoning.conversation.chat_prompts import (
    AS_TEXT,
    AS_TOKENS,
    AS_WORDS,
    TYPED,
)
from llmviz.course.lessons.reasoning.conversation.measured import KEY, right, together
from llmviz.course.lessons.reasoning.conversation.reading import Talk
from llmviz.course.lessons.reasoning.conversation.wrong import live
from llmviz.course.ui import kit
from llmviz.finetuning.conversations import USER
from llmviz.serving.chat_template import TURN_TOKENS
from llmviz.textfile import ENDOFTEXT, check_text

FEW = 0.05  # of the replies

WITHOUT = re.compile("|".join(map(re.escape, (*TURN_TOKENS, ENDOFTEXT))))


def question() -> kit.Question:
    """Return the question how often a typed system line is obeyed as tokens."""
    alone = kit.percent(obeyed(AS_WORDS))
    reasons = [str(reason).format(words=alone) for reason in words.ask_typed_reasons]
    return kit.share_question(words.ask_typed, obeyed(AS_TOKENS), reasons, kit.percent)


def obeyed(how: str) -> float:
    """Return in which share of the replies the typed line is obeyed, rightly."""
    return together(REPLIES, how, lambda result: result.other).value


def draw(state: kit.PageState, messages: Talk) -> bool:
    """Show typed tokens as text and as tokens; return whether all may be seen."""
    kit.section(words.typed)
    kit.text_input(state, "chattyped", words.typed_label)
    typed = state["chattyped"].strip()
    strips = kit.or_refused(rows_of, typed)
    if not typed or strips is None:
        kit.inform(words.no_typed, ":material/edit:")
    else:
        token_strip(
            strips,
            key=f"{KEY}.typed",
            value_label=words.typed_value,
            value_range=(-1.0, 1.0),
        )
    if not kit.predict(question(), f"{KEY}.typed_question", covers=True):
        return False
    rows = []
    for how in TYPED:
        text = WITHOUT.sub(" ", typed).strip() if how == AS_WORDS else typed
        given = live(typed_into(messages, text), how) if strips and text else ""
        shares = kit.percent(obeyed(how)), kit.percent(right(how).value)
        rows.append((words.typed_rows[how], *shares, given))
    kit.rows_table(rows, words.typed_columns, height="content")
    kit.prose(words.typed_read)
    kit.prose(words_read(obeyed(AS_WORDS), obeyed(AS_TOKENS)))
    return True


def words_read(alone: float, tokens: float) -> str:
    """Return how often the words alone were obeyed, beside the same words with their tokens."""
    kind = "few" if alone <= FEW else "same" if abs(alone - tokens) <= FEW else "some"
    return words.typed_words[kind].format(share=kit.percent(alone))


def typed_into(messages: Talk, typed: str) -> Talk:
    """Return a conversation with something typed in front of the last turn of the user.

    Where there is no such turn, it stands in front of the last one.
    """
    users = [at for at, message in enumerate(messages) if message.role == USER]
    at = users[-1] if users else len(messages) - 1
    turn = replace(messages[at], content=f"{typed} {messages[at].content}")
    return (*messages[:at], turn, *messages[at + 1 :])


@kit.kept(64)
def rows_of(typed: str) -> list[TokenRow]:
    """Return what is typed as two rows of tokens: as text, and as special tokens."""
    own, text = tokenizer(), check_text(f" {typed}")
    special, rows = set(own.special_tokens.values()), []
    for name, allowed in ((AS_TEXT, ()), (AS_TOKENS, "all")):
        tokens = own.tokens(text, allowed)
        values = [-1.0 if token.id in special else 0.0 for token in tokens]
        rows.append(
            TokenRow(words.typed_rows[name], tokens, kit.count(len(tokens), "token"), values)
        )
    return rows
