"""A conversation as the text that a model was taught to continue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from llmviz.serving.template import ChatTemplate
from llmviz.serving.template_child import GuardedTemplate

if TYPE_CHECKING:
    from llmviz.tokenizers import Tokenizer

# For models that have none of their own: a play of names and lines.
OWN = (
    "{% for message in messages %}{{ message.role | capitalize }}: {{ message.content }}\n"
    "{% endfor %}Assistant:"
)
OWN_STOPS = ("\nUser:", "\nSystem:", "\nAssistant:")
# Of the bundled chat model: each role and each end of a turn is a token of its own.
TURN_END = "<|end|>"
TURN_TOKENS = ("<|system|>", "<|user|>", "<|assistant|>", TURN_END)
TURNS = (
    "<|endoftext|>"
    "{% for message in messages %}<|{{ message.role }}|> {{ message.content }}<|end|>{% endfor %}"
    "<|assistant|>"
)


class Piece(NamedTuple):
    """A stretch of a rendered conversation: a special token with its id, or ordinary text."""

    text: str
    id: int | None = None


UNTAUGHT = (
    "this model was never taught to answer: it learned to go on with texts, and a conversation is "
    "like nothing that it has read. Expect a story, or one word again and again."
)


class Conversation:
    """How a model reads a conversation: by the template that it was taught, or by `OWN`."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        source: str | None,
        tokens: Mapping[str, str] | None = None,
        *,
        ours: bool = False,
    ) -> None:
        """ours: whether the template is known to end soon, and so runs in this process."""
        self._tokenizer, self.taught = tokenizer, source is not None
        kind = ChatTemplate if ours or source is None else GuardedTemplate
        self._template = kind(OWN if source is None else source, tokens)
        self.stops = () if self.taught else OWN_STOPS

    def ids(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        """Return the tokens of a conversation, up to where the model answers.

        Raises ValueError: the template refuses it, or a message holds one of the tokens that only
        the template may write.
        """
        if self.taught:
            for message in messages:
                for special in self._tokenizer.special_tokens:
                    if special in message["content"]:
                        raise ValueError(f"a message holds {special!r}, a token of the template")
        text = self._template.render(messages)
        if not self.taught:
            return tuple(self._tokenizer.encode_from_start(text))
        ids = self._tokenizer.encode(text, allowed_special="all")
        return tuple(ids or self._tokenizer.behind_start(()))

    def pieces(self, messages: Sequence[Mapping[str, str]]) -> list[Piece]:
        """Return a conversation cut at the special tokens that the template wrote.

        What looks like such a token in a message stays text. That is right for a template that
        writes each content once and as it is; others are not known from outside.
        Raises ValueError: the template refuses the messages, or changes a content.
        """
        mark = "\ue000"
        while any(mark in message["content"] for message in messages):
            mark += "\ue000"
        stand_ins = [f" {mark}aZ{at}{mark} " for at in range(len(messages))]
        marked = [{**turn, "content": mine} for turn, mine in zip(messages, stand_ins, strict=True)]
        text = self._template.render(marked)
        if any(text.count(stand_in) != 1 for stand_in in stand_ins):
            raise ValueError("the chat template must write each message once, as it is")
        cut = [
            Piece(part, special)
            for part, special in self._tokenizer.split_special(text, "all" if self.taught else ())
        ]
        for mine, message in zip(stand_ins, messages, strict=True):
            cut = [Piece(part.replace(mine, message["content"]), special) for part, special in cut]
        return cut
