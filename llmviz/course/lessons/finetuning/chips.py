"""Tokens of a model as chips that are coloured by a value."""

from collections.abc import Mapping, Sequence

from llmviz.course.components import TokenRow
from llmviz.tokenizers import Token


def row_of(
    ids: Sequence[int],
    names: Sequence[str],
    values: Sequence[float],
    details: Sequence[Mapping[str, str]] | None = None,
) -> TokenRow:
    """Return T tokens as a row of `token_strip`; names are how they are shown, as `names_of`."""
    tokens, at, place = [], 0, 0
    for token, name in zip(ids, names, strict=True):
        data = name.encode()
        end, last = at + len(data), place + len(name)
        tokens.append(Token(token, data, at, end, place, last))
        at, place = end, last
    return TokenRow("", tokens, values=list(values), details=details)
