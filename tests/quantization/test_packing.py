"""Codes without gaps in bytes: there and back, as few bytes as can be, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.quantization.model import pack, packed_bytes, unpack


@settings(deadline=None, max_examples=200)
@given(some.data(), some.integers(1, 8))
def test_codes_come_back_from_as_few_bytes_as_hold_them(data, bits):
    codes = np.array(data.draw(some.lists(some.integers(0, 2**bits - 1), max_size=60)), int)
    packed = pack(codes, bits)
    assert packed.dtype == np.uint8
    assert 8 * len(packed) - 7 <= max(1, bits * len(codes)) <= 8 * max(1, len(packed))
    np.testing.assert_array_equal(unpack(packed, bits, len(codes)), codes)
    # The bits of a whole number, the first code lowest: the same by Python's own arithmetic.
    number = sum(int(code) << (bits * place) for place, code in enumerate(codes))
    assert packed.tobytes() == number.to_bytes(packed_bytes(len(codes), bits), "little")


@pytest.mark.parametrize("codes", [[8], [-1]])
def test_a_code_out_of_range_is_refused(codes):
    with pytest.raises(ValueError, match="codes of 3 bits are from 0 to 7"):
        pack(np.array(codes), 3)


def test_bytes_that_are_not_as_many_are_refused():
    with pytest.raises(ValueError, match="10 codes of 3 bits take 4 bytes"):
        unpack(np.zeros(5, np.uint8), 3, 10)
    for bits in (0, 9):
        with pytest.raises(ValueError, match="1 to 8 bits"):
            pack(np.zeros(3, int), bits)
