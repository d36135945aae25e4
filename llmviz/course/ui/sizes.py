"""Bytes in words, for who says how large something is."""


def size(number: float) -> str:
    """Return bytes in the largest unit that leaves at least 1.

    >>> size(17), size(2048), size(5 * 1024**3)
    ('17 B', '2 KiB', '5 GiB')
    """
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            break
        number /= 1024
    return f"{number:,.3g} {unit}" if number < 1000 else f"{number:,.0f} {unit}"
