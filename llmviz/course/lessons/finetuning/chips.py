"""Tokens of a model as chips that are coloured by a value."""

from collections.abc import Mapping, Sequence

from llmviz.course.components import TokenRow
from llmviz.tokenizers import Token


def row_of(
    ids: Sequence[int],
    names: Sequence[str],
    values: Sequence[float] | None = None,
    details: Sequence[Mapping[str, str]] | None = None,
    name: str = "",
) -> TokenRow:
    """Return T tokens as a row of `token_strip`; names are how they are shown, as `names_of`."""
    tokens, at, place = [], 0, 0
    for token, shown in zip(ids, names, strict=True):
        data = shown.encode()
        end, last = at + len(data), place + len(shown)
        tokens.append(Token(token, data, at, end, place, last))
        at, place = end, last
    return TokenRow(name, tokens, values=values, details=details)
