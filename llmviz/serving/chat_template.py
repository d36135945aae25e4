"""A conversation as the text that a model was taught to continue: its template, rendered safely.

Templates come with published models, so they are other people's programs. They run in jinja2's
own sandbox: no attribute of Python's that leads out of it, no change of what they are given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

from jinja2 import TemplateError
from jinja2.ext import Extension
from jinja2.nodes import Node, Scope
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

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
LONGEST = 100_000  # characters of a template


class ChatTemplate:
    """A template of jinja2, as transformers applies it.

    tokens: what it may name besides the messages, such as `bos_token` and `eos_token`.
    Raises ValueError: it is too long, or no template.
    """

    def __init__(self, source: str, tokens: Mapping[str, str] | None = None) -> None:
        if len(source) > LONGEST:
            raise ValueError(f"a chat template has at most {LONGEST:,} characters")
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, "jinja2.ext.loopcontrols"],
        )
        environment.filters["tojson"] = _json
        environment.globals |= {"raise_exception": _refuse, "strftime_now": _now}
        self._tokens = dict(tokens or {})
        try:
            self._template = environment.from_string(source)
        except (TemplateError, RecursionError) as error:
            raise ValueError(f"the chat template cannot be read: {error}") from None

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the text of a conversation, up to where the model answers.

        Raises ValueError: the template refuses it, or does what the sandbox does not allow.
        """
        try:
            return self._template.render(
                messages=[dict(message) for message in messages],
                add_generation_prompt=True,
                **{"tools": None, "documents": None, **self._tokens},
            )
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"the chat template refuses these messages: {error}") from None
        except (AttributeError, MemoryError, RecursionError) as error:
            raise ValueError(f"the chat template failed: {error}") from None


class _Generation(Extension):
    """`{% generation %}`: transformers marks there what a model learns; its text stays as it is."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return Scope(body).set_lineno(line)


def _json(  # the order is that of transformers
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)


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
        self, tokenizer: Tokenizer, source: str | None, tokens: Mapping[str, str] | None = None
    ) -> None:
        self._tokenizer, self.taught = tokenizer, source is not None
        self._template = ChatTemplate(OWN if source is None else source, tokens)
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
