"""Codes of a few bits without gaps in bytes: code 0 takes the lowest bits of byte 0, and so on.

3 bits:  byte 0 = c2 c2 c1 c1 c1 c0 c0 c0, byte 1 = c5 c4 c4 c4 c3 c3 c3 c2, …
"""

from __future__ import annotations

import numpy as np


def packed_bytes(count: int, bits: int) -> int:
    """Return how many bytes so many codes take.

    >>> packed_bytes(8, 3), packed_bytes(3, 4)
    (3, 2)
    """
    return -(-count * bits // 8)


def pack(codes: np.ndarray, bits: int) -> np.ndarray:
    """Return codes (any shape, whole numbers from 0 to 2^bits − 1) as bytes, uint8 (N,).

    Raises ValueError for bits that are not from 1 to 8, and for a code out of range.

    >>> pack(np.array([1, 2, 3, 4, 5, 6, 7, 0]), 3).tolist()
    [209, 88, 31]
    """
    _check(bits)
    flat = np.asarray(codes).reshape(-1)
    if flat.size and not (flat.min() >= 0 and flat.max() < 2**bits):
        raise ValueError(
            f"codes of {bits} bits are from 0 to {2**bits - 1}; got {flat.min()} to {flat.max()}"
        )
    each = np.unpackbits(flat.astype(np.uint8)[:, None], axis=1, bitorder="little")[:, :bits]
    return np.packbits(each.reshape(-1), bitorder="little")


def unpack(packed: np.ndarray, bits: int, count: int) -> np.ndarray:
    """Return the `count` codes in some bytes (N,), uint8 (count,).

    Raises ValueError where the bytes are not as many as so many codes take.
    """
    _check(bits)
    if packed.shape != (packed_bytes(count, bits),):
        raise ValueError(
            f"{count:,} codes of {bits} bits take {packed_bytes(count, bits):,} bytes; "
            f"got the shape {packed.shape}"
        )
    each = np.unpackbits(packed, bitorder="little")[: count * bits].reshape(count, bits)
    return np.packbits(each, axis=1, bitorder="little").reshape(-1)


def _check(bits: int) -> None:
    if not 1 <= bits <= 8:
        raise ValueError(f"packed codes have 1 to 8 bits; got {bits}")
