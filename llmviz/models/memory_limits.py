"""Whether there is room for what is asked for: sizes of a model, and memory. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

MOST = {"n_layer": 1_000, "n_expert": 1_000}
MOST_NETWORKS = 10_000  # feed-forward networks: layers times experts
LARGEST_SIZE = 2**24  # of any other setting of a model that is a whole number
_GROUP = Path("/sys/fs/cgroup")  # where Linux says what a container may take


def check_sizes(name: str, config: Mapping[str, Any]) -> None:
    """Raise ValueError for a setting so large that building the model would take for ever."""
    for setting, value in config.items():
        if isinstance(value, int) and not isinstance(value, bool):
            most = MOST.get(setting, LARGEST_SIZE)
            if value > most:
                raise ValueError(f"{setting} must be at most {most:,} for a {name}; got {value:,}")
    layers, experts = config.get("n_layer"), config.get("n_expert")
    if isinstance(layers, int) and isinstance(experts, int) and layers * experts > MOST_NETWORKS:
        raise ValueError(
            f"n_layer times n_expert must be at most {MOST_NETWORKS:,} for a {name}; "
            f"got {layers:,} times {experts:,}"
        )


def check_memory(
    needs: int,
    what: str,
    free: int | None = None,
    share: float = 1.0,
    smaller: str = "the model, the batch or the context",
) -> None:
    """Raise ValueError, with both numbers, where something needs more memory than is free.

    needs, free: bytes; free is left out for the memory of this machine. share: of what is free,
    that may be taken. smaller: what the message advises to make smaller.
    """
    free = free_memory() if free is None else free
    if needs > share * free:
        raise ValueError(
            f"{what} needs about {spoken_bytes(needs)} of memory, and {spoken_bytes(free)} are "
            f"free here; make {smaller} smaller"
        )


def free_memory() -> int:
    """Bytes that this process can still take: of the machine, or of its container if less."""
    return min(psutil.virtual_memory().available, _free_in_container())


def _free_in_container() -> float:
    try:
        most, now = (int((_GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        kept = dict(line.split() for line in (_GROUP / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no container, or one without a limit
        return float("inf")
    return max(0, most - now + int(kept.get("inactive_file", 0)))


def spoken_bytes(number: int) -> str:
    """A size as one says it.

    >>> spoken_bytes(5_764_000), spoken_bytes(4_370_000_000_000), spoken_bytes(2_500 * 10**12)
    ('5.76 MB', '4.37 TB', '2,500 TB')
    >>> spoken_bytes(999_999), spoken_bytes(999), spoken_bytes(999_500 * 10**9)
    ('1 MB', '999 B', '1,000 TB')
    """
    size, unit = byte_unit(number)
    if size == 1:
        return f"{number} B"
    value = max(1.0, number / size)
    return f"{value:,.0f} {unit}" if value >= 999.5 else f"{value:.3g} {unit}"


def byte_unit(number: float) -> tuple[float, str]:
    """Return the bytes and the name of the unit in which three digits say a size.

    >>> byte_unit(5_764_000), byte_unit(999_499), byte_unit(999_500), byte_unit(12)
    ((1000000.0, 'MB'), (1000.0, 'kB'), (1000000.0, 'MB'), (1.0, 'B'))
    """
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if number >= 0.9995 * size:  # what is less has three digits in the unit below
            return size, unit
    return (1e3, "kB") if number >= 1000 else (1.0, "B")
