"""A refusal names the option as it is typed (`--lr`), not the setting that it fills."""

from __future__ import annotations

import re
from collections.abc import Mapping

_QUOTED = r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)"  # a value, whose words are no names


def with_option_names(
    message: str, options: Mapping[str, str], quoted: Mapping[str, str] | None = None
) -> str:
    """Return a message with the names of settings replaced by the options that fill them.

    A name of one word, such as `steps`, is taken for a setting where a rule follows it or its
    value; one with an underscore always. What stands in quotes is left as it is. A message that
    names no option that was given, but quotes a name or value of one, begins with that option.

    options: setting -> option. quoted: what may stand in quotes -> the option it was given with.

    >>> with_option_names("n_head must divide n_embd; got n_head=3", {"n_head": "--n-head"})
    '--n-head must divide n_embd; got --n-head=3'
    >>> with_option_names("there is no text 'x'", {}, {"x": "--corpus", "gpt": "--model"})
    "--corpus: there is no text 'x'"
    """
    names = sorted(options, key=len, reverse=True)
    whole = "|".join(re.escape(name) for name in names if "_" in name) or "(?!)"
    words = "|".join(re.escape(name) for name in names if "_" not in name) or "(?!)"
    rule = r"(?==| (?:must|cannot|is for)\b)"
    pattern = rf"{_QUOTED}|(?<![\w./-])(?:(?:{whole})(?![\w./])|(?:{words}){rule})"
    named = re.sub(pattern, lambda match: options.get(match[0], match[0]), message)
    quoted = quoted or {}
    if any(re.search(rf"{option}\b", named) for option in quoted.values()):
        return named
    meant = {option for text, option in quoted.items() if _quotes(named, text)}
    return f"{meant.pop()}: {named}" if len(meant) == 1 else named


def _quotes(message: str, text: str) -> bool:
    """Whether a message quotes a text, or the beginning of a long one."""
    begin = repr(text[:80])[:-1]
    return begin + ("" if len(text) > 80 else begin[0]) in message
