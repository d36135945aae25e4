"""A number as a learner types it, read without being changed in silence."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

LONGEST = 60  # characters


def read_number(text: str) -> float:
    """Return the float64 of a typed number; inf and nan are numbers here, too.

    Raises ValueError naming the rule: no number, or one outside of what float64 can hold.

    >>> read_number("−3e-5"), read_number(" inf ")
    (-3e-05, inf)
    """
    plain = text.strip().replace("−", "-")
    if not plain:
        raise ValueError("a number is needed, such as 0.1, −3e-5, inf or nan")
    if len(plain) > LONGEST:
        raise ValueError(f"a number may have {LONGEST} characters; got {len(plain)}")
    try:
        exact = Decimal(plain)
        if "_" in plain or exact.is_snan() or not plain.isascii():
            raise ValueError
        value = float(plain)
    except (InvalidOperation, ValueError):
        raise ValueError(
            f"a number is needed, such as 0.1, −3e-5, inf or nan; got {plain!r}"
        ) from None
    if exact.is_finite() and (math.isinf(value) or (value == 0 and exact != 0)):
        size = "large" if math.isinf(value) else "small"
        raise ValueError(
            f"{plain} is too {size} even for float64, which this page computes in; "
            "it holds sizes from about 5e-324 to 1.8e308"
        )
    return value
