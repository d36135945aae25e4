"""Tokens of a model as chips that are coloured by a value."""

from collections.abc import Mapping, Sequence

from llmviz.course.components import TokenRow
from llmviz.tokenizers import in_line


def row_of(
    ids: Sequence[int],
    names: Sequence[str],
    values: Sequence[float] | None = None,
    details: Sequence[Mapping[str, str]] | None = None,
    name: str = "",
) -> TokenRow:
    """Return T tokens as a row of `token_strip`; names are how they are shown, as `names_of`."""
    return TokenRow(name, in_line(map(str.encode, names), ids), values=values, details=details)
