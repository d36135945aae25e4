"""The colours of kinds of networks: one kind, one colour, on every page that compares them."""

from __future__ import annotations

# From the oldest to the newest; two tables of counts come last. A number in the palette of kinds.
_ORDER = ("bigram", "mlp", "wavenet", "rnn", "gru", "lstm", "gpt", "counted-pairs", "counted-fours")
_YELLOW = 5  # is told from orange by dashes


def network_number(name: str) -> int:
    """Return a network's number in the palette (see `theme.category_style`).

    name: its kind, or the name of a bundled model of names. Raises ValueError for another one.

    >>> network_number("names-gru") == network_number("gru")
    True
    """
    kind = name.removeprefix("names-")
    if kind not in _ORDER:
        raise ValueError(f"the kind of network must be one of {', '.join(_ORDER)}; got {name!r}")
    return _ORDER.index(kind)


def is_dashed(name: str) -> bool:
    """Whether a network's line is drawn in dashes, so that its colour is told from a near one."""
    return network_number(name) == _YELLOW
