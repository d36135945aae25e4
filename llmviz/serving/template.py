"""A chat template, rendered safely.

Templates come with published models, so they are other people's programs. They run in jinja2's
own sandbox: no attribute of Python's that leads out of it, no change of what they are given. The
sandbox bounds neither time nor memory; `template_child` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.ext import Extension
from jinja2.nodes import Node, Scope
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

LONGEST = 100_000  # characters of a template
MOST_TEXT = 4_000_000  # characters that one writes


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
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as error:
            # What stands in it without a name is computed when it is read.
            raise ValueError(f"the chat template cannot be read: {error!r}") from None

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the text of a conversation, up to where the model answers.

        Raises ValueError: the template refuses it, or does what the sandbox does not allow.
        """
        parts, size = [], 0
        try:
            for part in self._template.generate(
                messages=[dict(message) for message in messages],
                add_generation_prompt=True,
                **{"tools": None, "documents": None, **self._tokens},
            ):
                size += len(part)
                if size > MOST_TEXT:
                    raise ValueError(f"it writes more than {MOST_TEXT:,} characters")
                parts.append(part)
            return "".join(parts)
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
