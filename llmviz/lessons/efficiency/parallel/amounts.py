"""Bytes, seconds, and very large or small numbers as text."""

from __future__ import annotations


def bytes_text(number: float) -> str:
    """Return bytes in the largest unit, in steps of 1,000, that leaves at least 1.

    >>> bytes_text(17), bytes_text(947_712), bytes_text(2.8e12)
    ('17 B', '948 kB', '2.8 TB')
    """
    return _scaled(number, ("B", "kB", "MB", "GB", "TB", "PB"))


def seconds_text(number: float) -> str:
    """Return a time in seconds, or in milli- or microseconds if it is short.

    >>> seconds_text(83.21), seconds_text(0.0042), seconds_text(3e-7)
    ('83.2 s', '4.2 ms', '0.3 µs')
    """
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if number * factor >= 1:
            return f"{_digits(number * factor)} {unit}"
    return f"{_digits(number * 1e6)} µs"


def power_text(number: float) -> str:
    """Return a number with two digits and its power of ten.

    >>> power_text(4.2e23), power_text(1.2e-7), power_text(0)
    ('4.2 · 10²³', '1.2 · 10⁻⁷', '0')
    """
    if not number:
        return "0"
    mantissa, exponent = f"{number:.1e}".split("e")
    raised = str(int(exponent)).translate(_RAISED)
    return f"{mantissa} · 10{raised}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _scaled(number: float, units: tuple[str, ...]) -> str:
    *smaller, last = units
    for unit in smaller:
        if number < 999.5:
            return f"{_digits(number)} {unit}"
        number /= 1000
    return f"{_digits(number)} {last}"


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
