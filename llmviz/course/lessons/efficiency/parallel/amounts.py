"""Bytes, seconds, and very large or small numbers as text."""

from llmviz.course.ui import kit


def bytes_text(number: float) -> str:
    """Return bytes in the largest unit, in steps of 1,000, that leaves at least 1.

    >>> bytes_text(17), bytes_text(947_712), bytes_text(2.8e12)
    ('17 B', '948 kB', '2.8 TB')
    """
    return _scaled(number, ("B", "kB", "MB", "GB", "TB", "PB"))


def seconds_text(number: float) -> str:
    """Return a time in seconds, or in milli- or microseconds if it is short.

    >>> seconds_text(83.21), seconds_text(0.0042), seconds_text(3e-7), seconds_text(0)
    ('83.2 s', '4.2 ms', '0.3 µs', '0 s')
    """
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if not number or number * factor >= 1:
            return f"{number_text(number * factor)} {unit}"
    return f"{number_text(number * 1e6)} µs"


def duration_text(seconds: float) -> str:
    """Return a long time in days, a shorter one in hours, minutes, or as `seconds_text` does.

    >>> duration_text(864_000), duration_text(5400), duration_text(90), duration_text(2.5)
    ('10 days', '1.5 hours', '1.5 minutes', '2.5 s')
    """
    for size, name in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            number = number_text(seconds / size)
            return f"{number} {name}" if number == "1" else f"{number} {name}s"
    return seconds_text(seconds)


def number_text(number: float) -> str:
    """Return a number with three digits, from 100 on whole; an extreme one with a power of ten.

    >>> number_text(33.814), number_text(830_959.4), number_text(2.5e16), number_text(1.2e-7)
    ('33.8', '830,959', '2.5·10¹⁶', '1.2·10⁻⁷')
    """
    return _digits(number) if not number or 0.001 <= number < 1e9 else kit.power_of_ten(number)


def _scaled(number: float, units: tuple[str, ...]) -> str:
    *smaller, last = units
    for unit in smaller:
        if number < 999.5:
            return f"{_digits(number)} {unit}"
        number /= 1000
    return f"{_digits(number)} {last}"


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 99.95 else f"{number:.3g}"
