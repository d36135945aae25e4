"""A number in several formats, bit by bit: every bit is a button that flips it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llmviz.course.components._shared.transport import mount
from llmviz.quantization.formats import FloatFormat, Format


def bit_rows(
    formats: Sequence[Format],
    number: float,
    *,
    key: str,
    labels: Sequence[str],
    notes: Sequence[str],
    words: Mapping[str, Any],
    pattern: str = "",
    on_change: Callable[[], None] | None = None,
) -> str:
    """Draw a row of bits for each format, with the value, its formula, and what was lost.

    labels, notes: what stands at each row. pattern: "NAME:BITS" where one format's bits are the
    number, instead of ``number``; a bit that is flipped makes such a pattern, which is returned.
    words: see ``board`` in the document of "Numbers as bits".
    Raises ValueError for lists of different lengths.
    """
    payload = rows_payload(formats, number, labels, notes) | {"words": dict(words)}
    now = mount("bit_rows", payload, key=key, state="pattern", start=pattern, on_change=on_change)
    return now if isinstance(now, str) and (not now or _known(now, formats)) else ""


def bit_film(
    formats: Sequence[Format],
    sums: Mapping[str, Sequence[float] | None],
    exact: Sequence[float],
    stops: Sequence[int],
    *,
    key: str,
    step: int,
    on_change: Callable[[], None] | None = None,
    **rows: Any,
) -> None:
    """Draw rows of bits that a player changes: at each of the stops, what each format holds.

    sums: by format; None is veiled. exact: what should be held. rows: labels, notes and words as
    of ``bit_rows``; "film" is the sentence below, with {n}, {exact} and the names of formats.
    ``st.session_state[key]["step"]`` is the place among the stops that the hand came to rest on.
    """
    words = rows.pop("words")
    payload = rows_payload(formats, 0.0, **rows) | {"words": dict(words)}
    payload["film"] = {
        "stops": list(stops),
        "exact": [float(value) for value in exact],
        "sums": {
            name: None if own is None else [float(value) for value in own]
            for name, own in sums.items()
        },
    }
    mount("bit_rows", payload, key=key, state="step", start=step, on_change=on_change)


def rows_payload(
    formats: Sequence[Format],
    number: float,
    labels: Sequence[str],
    notes: Sequence[str],
) -> dict[str, Any]:
    """Return what the rows are sent, checked. The number travels as text: NaN and ∞ among them."""
    if not len(formats) == len(labels) == len(notes):
        raise ValueError("formats, labels and notes must be equally many")
    rows = zip(formats, labels, notes, strict=True)
    return {"number": repr(float(number)), "formats": [_row(*row) for row in rows]}


def read_pattern(text: str, formats: Sequence[Format]) -> tuple[Format, int]:
    """Return the format and the bits of "NAME:BITS".

    Raises ValueError: no such format, or bits that are no pattern of it.
    """
    name, _, written = text.partition(":")
    known = {kind.name: kind for kind in formats}
    if name not in known:
        raise ValueError(f"a pattern begins with one of {', '.join(known)}; got {text[:40]!r}")
    most = 2 ** known[name].bits - 1
    if not written.isascii() or not written.isdigit() or len(written) > 10 or int(written) > most:
        raise ValueError(f"a pattern of {name} is a whole number up to {most}; got {text[:40]!r}")
    return known[name], int(written)


def _known(text: str, formats: Sequence[Format]) -> bool:
    try:
        read_pattern(text, formats)
    except ValueError:
        return False
    return True


def _row(format: Format, label: str, note: str) -> dict[str, Any]:
    real = format if isinstance(format, FloatFormat) else None
    return {
        "name": format.name,
        "label": label,
        "note": note,
        "bits": format.bits,
        "groups": [list(group) for group in format.groups],
        "exponent": real.exponent_bits if real else 0,
        "mantissa": real.mantissa_bits if real else 0,
        "infinity": bool(real and real.has_infinity),
    }
