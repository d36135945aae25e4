"""A refusal names the option as it is typed (`--lr`), not the setting that it fills."""

from __future__ import annotations

import re
from collections.abc import Mapping

_QUOTED = r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)"  # a value, whose words are no names


def with_option_names(
    message: str, options: Mapping[str, str], values: Mapping[str, str] | None = None
) -> str:
    """Return a message with the names of settings replaced by the options that fill them.

    A name of one word, such as `steps`, is taken for a setting where a rule follows it or its
    value; one with an underscore always. What stands in quotes is left as it is. A message that
    names no setting, but quotes the value of one option, begins with that option.

    options: setting -> option. values: option -> the text that was given to it.

    >>> with_option_names("n_head must divide n_embd; got n_head=3", {"n_head": "--n-head"})
    '--n-head must divide n_embd; got --n-head=3'
    >>> with_option_names("there is no text 'x'", {}, {"--corpus": "x", "--model": "gpt"})
    "--corpus: there is no text 'x'"
    """
    names = sorted(options, key=len, reverse=True)
    whole = "|".join(re.escape(name) for name in names if "_" in name) or "(?!)"
    words = "|".join(re.escape(name) for name in names if "_" not in name) or "(?!)"
    rule = r"(?==| (?:must|cannot)\b)"
    pattern = rf"{_QUOTED}|(?<![\w./-])(?:(?:{whole})(?![\w./])|(?:{words}){rule})"
    named = re.sub(pattern, lambda match: options.get(match[0], match[0]), message)
    if any(re.search(rf"{option}\b", named) for option in options.values()):
        return named
    meant = [option for option, value in (values or {}).items() if _quotes(named, value)]
    return f"{meant[0]}: {named}" if len(meant) == 1 else named


def _quotes(message: str, value: str) -> bool:
    """Whether a message quotes a value, or the beginning of a long one."""
    begin = repr(value[:80])[:-1]
    return begin + ("" if len(value) > 80 else begin[0]) in message
