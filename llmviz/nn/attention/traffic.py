"""What attention of one head reads from slow memory and writes to it: counted, not measured.

T rows (tokens that ask), S columns (tokens asked), D head size, R rows and C columns of a tile, M
numbers that fit into fast memory. All counts are of numbers; times the bytes of a number they are
bytes.

Slow memory is large: it holds queries, keys, values and the output. Fast memory is small and lies
beside the arithmetic. What is computed in fast memory and stays there costs nothing here. A mask is
a rule on places (such as the causal one), so that it is not read.

Reference: Dao et al. 2022, "FlashAttention", section 3.2. Deviation: rows are outside and columns
inside, as in Dao 2023, "FlashAttention-2", so that a strip of the output is written once.
"""

from __future__ import annotations

import math
from typing import NamedTuple


class Traffic(NamedTuple):
    """Numbers that go between slow memory and fast memory."""

    read: int
    written: int

    @property
    def moved(self) -> int:
        """Both ways together."""
        return self.read + self.written


def matrix_traffic(t: int, head_size: int, s: int | None = None) -> Traffic:
    """Count attention in three operations, each of which reads and writes whole matrices.

    The product of queries and keys reads (T + S)·D numbers and writes T·S scores; softmax reads and
    writes T·S; the product of weights and values reads T·S + S·D and writes T·D. s: S; None is T.
    Raises ValueError for a size below 1.

    Reference: Dao et al. 2022, "FlashAttention", algorithm 0 (standard attention).

    >>> matrix_traffic(4, 2)
    Traffic(read=56, written=40)
    """
    s = t if s is None else s
    _require(t=t, s=s, head_size=head_size)
    read = (t + s) * head_size + t * s + t * s + s * head_size
    return Traffic(read, t * s + t * s + t * head_size)


def tile_traffic(
    t: int, head_size: int, rows: int, columns: int, s: int | None = None, *, causal: bool = False
) -> Traffic:
    """Count what `tile_steps` reads and writes: queries and output once, keys and values often.

    For each strip of R rows its queries are read once, then the keys and values of every tile of
    the strip, and its output is written once: 2·T·D + 2·S·D·⌈T/R⌉ in all. causal: tiles that lie
    wholly above the diagonal are skipped, for T = S. s: S; None is T.
    Raises ValueError for a size below 1 and for a causal rule where T differs from S.

    >>> tile_traffic(4, 2, rows=2, columns=2), tile_traffic(4, 2, 2, 2, causal=True)
    (Traffic(read=40, written=8), Traffic(read=32, written=8))
    """
    s = t if s is None else s
    _require(t=t, s=s, head_size=head_size, rows=rows, columns=columns)
    if not causal:
        return Traffic(t * head_size + 2 * s * head_size * math.ceil(t / rows), t * head_size)
    require_square(t, s)
    last = (min(start + rows, t) for start in range(0, t, rows))  # columns that a strip may look at
    columns_read = sum(min(math.ceil(end / columns) * columns, s) for end in last)
    return Traffic(t * head_size + 2 * head_size * columns_read, t * head_size)


def tile_numbers(rows: int, columns: int, head_size: int) -> int:
    """Count what must be in fast memory at once: queries, output, keys, values, scores, statistics.

    2·R·D + 2·C·D + R·C + 2·R. The scores are replaced by their exponentials, and each row has its
    maximum and its sum.

    >>> tile_numbers(2, 2, 3)
    32
    """
    _require(rows=rows, columns=columns, head_size=head_size)
    return 2 * (rows + columns) * head_size + rows * columns + 2 * rows


def square_tile(memory: int, head_size: int) -> int:
    """Return the side of the largest square tile that fits into M numbers of fast memory.

    Raises ValueError where not even a tile of one cell does.

    >>> square_tile(32, 3), square_tile(31, 3)
    (2, 1)
    """
    smallest = tile_numbers(1, 1, head_size)
    if memory < smallest:
        raise ValueError(
            f"a tile of one cell takes {smallest} numbers at head size {head_size}; got {memory=}"
        )
    half = 2 * head_size + 1  # B² + 2·half·B ≤ M
    return math.isqrt(half * half + memory) - half


def require_square(t: int, s: int) -> None:
    """Raise ValueError unless there are as many rows as columns, as the causal rule needs."""
    if t != s:
        raise ValueError(f"the causal rule needs as many queries as keys; got {t} and {s}")


def _require(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} must be at least 1; got {size}")
