"""Number formats against torch's own types: every pattern of 8 and 16 bits, and any float32."""

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from llmviz.quantization.formats import (
    BFLOAT16,
    EXACT,
    FLOAT8_E4M3,
    FLOAT8_E5M2,
    FLOAT16,
    FLOAT32,
    FORMATS,
    INFINITE,
    INT4,
    INT8,
    NAN,
    NORMAL,
    OVERFLOWS,
    ROUNDED,
    SUBNORMAL,
    VANISHES,
    ZERO,
    FloatFormat,
    bit_text,
)

TORCH = {
    "float32": (torch.float32, torch.int32),
    "float16": (torch.float16, torch.int16),
    "bfloat16": (torch.bfloat16, torch.int16),
    "float8_e4m3": (torch.float8_e4m3fn, torch.int8),
    "float8_e5m2": (torch.float8_e5m2, torch.int8),
}
FLOATS = [one for one in FORMATS.values() if isinstance(one, FloatFormat)]
SMALL = [one for one in FLOATS if one.bits <= 16]


def name_of(format: FloatFormat) -> str:
    return format.name


def read_by_torch(format: FloatFormat, bits: np.ndarray) -> np.ndarray:
    """What torch reads from patterns of bits, in float64."""
    kind, whole = TORCH[format.name]
    signed = np.where(bits >= 2 ** (format.bits - 1), bits - 2**format.bits, bits)
    return torch.from_numpy(signed).to(whole).view(kind).to(torch.float64).numpy()


def written_by_torch(format: FloatFormat, values: np.ndarray) -> np.ndarray:
    """The patterns that torch writes for numbers of float32."""
    kind, whole = TORCH[format.name]
    bits = torch.from_numpy(values).to(kind).view(whole).to(torch.int64).numpy()
    return bits % 2**format.bits


def assert_same_patterns(format: FloatFormat, values: np.ndarray) -> None:
    """Ours are torch's, but for NaN, which has many patterns: there both are NaN."""
    ours, theirs = format.encode(values).astype(np.int64), written_by_torch(format, values)
    nan = np.isnan(values)
    np.testing.assert_array_equal(ours[~nan], theirs[~nan])
    assert np.isnan(format.decode(ours[nan])).all()
    assert np.isnan(read_by_torch(format, theirs[nan])).all()


@pytest.mark.parametrize("format", FLOATS, ids=name_of)
def test_nan_of_either_sign_is_written_as_one_pattern(format):
    assert (format.encode([math.nan, math.copysign(math.nan, -1)]) == format.nan_bits).all()


@pytest.mark.parametrize("format", SMALL, ids=name_of)
def test_every_pattern_is_read_as_torch_reads_it(format):
    bits = np.arange(2**format.bits)
    ours, theirs = format.decode(bits), read_by_torch(format, bits)
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))  # also of −0


@pytest.mark.parametrize("format", SMALL, ids=name_of)
def test_every_number_of_a_format_comes_back_bit_for_bit(format):
    bits = np.arange(2**format.bits)
    values = format.decode(bits)
    number = ~np.isnan(values)
    np.testing.assert_array_equal(format.encode(values[number]), bits[number])


@pytest.mark.parametrize("format", SMALL, ids=name_of)
def test_halfway_between_two_numbers_goes_where_torch_sends_it(format):
    """Every tie of the format, and the float32 numbers just above and below it."""
    numbers = format.decode(np.arange(format.largest_bits + 1))
    ties = ((numbers[:-1] + numbers[1:]) / 2).astype(np.float32)
    past = np.float32(format.largest + float(format.spacing(format.largest)) / 2)
    ties = np.append(ties, past)
    for values in (ties, np.nextafter(ties, np.float32(0)), np.nextafter(ties, np.float32(np.inf))):
        assert_same_patterns(format, values)
        assert_same_patterns(format, -values)


@pytest.mark.parametrize("format", FLOATS, ids=name_of)
def test_random_patterns_of_float32_are_written_as_torch_writes_them(format):
    """All exponents alike, so that most lie outside of the small formats."""
    values = np.random.default_rng(0).integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    assert_same_patterns(format, values)


@settings(max_examples=300)
@given(st.floats(width=32))
@example(math.nan)
@example(-0.0)
@example(math.inf)
@example(-math.inf)
@example(2.0**-149)
@example(2.0**-25)
@example(65520.0)
def test_any_float32_is_written_as_torch_writes_it(value):
    for format in FLOATS:
        assert_same_patterns(format, np.array([value], dtype=np.float32))


@settings(max_examples=300)
@given(st.floats())
def test_a_float64_is_rounded_once(value):
    """By way of float32 it would be rounded twice; NumPy goes from float64 straight to both."""
    for format, kind in ((FLOAT16, np.float16), (FLOAT32, np.float32)):
        with np.errstate(over="ignore"):
            theirs = float(kind(value))
        ours = float(format.round(value))
        assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))
        assert math.isnan(value) or math.copysign(1, ours) == math.copysign(1, value)


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_error_is_at_most_half_the_spacing(value):
    for format in FORMATS.values():
        held = float(format.round(value))
        if format.fate(value) == OVERFLOWS:
            assert math.isinf(held) or abs(held) < abs(value)
        else:
            assert abs(held - value) <= float(format.spacing(value)) / 2
        assert (format.fate(value) == EXACT) == (held == value)
        assert (format.fate(value) == VANISHES) == (held == 0 != value)


@pytest.mark.parametrize("format", SMALL, ids=name_of)
def test_the_spacing_is_the_distance_to_the_next_pattern(format):
    numbers = format.decode(np.arange(format.largest_bits + 1))
    np.testing.assert_array_equal(format.spacing(numbers[:-1]), np.diff(numbers))
    assert format.spacing(format.largest) == numbers[-1] - numbers[-2]


@settings(max_examples=200)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_the_spacing_of_float32_is_that_of_numpy(value):
    if abs(value) < FLOAT32.largest:
        assert float(FLOAT32.spacing(value)) == float(np.spacing(np.float32(abs(value))))


@pytest.mark.parametrize("format", FLOATS, ids=name_of)
def test_the_limits_are_those_of_torch(format):
    known = torch.finfo(TORCH[format.name][0])
    assert format.largest == known.max
    assert format.smallest_normal == known.smallest_normal
    assert format.epsilon == known.eps
    assert format.bits == known.bits
    assert float(format.decode(1)) == format.smallest > 0


@pytest.mark.parametrize("format", FLOATS, ids=name_of)
def test_a_value_is_its_three_fields(format):
    """sign × 2^e × 1.m, and 0.m with the least e where the exponent's bits are zero."""
    bits = np.random.default_rng(1).integers(0, 2**format.bits, 2_000)
    for pattern in (int(one) for one in bits):
        sign, exponent, mantissa = format.fields(pattern)
        kind, value = format.kind(pattern), float(format.decode(pattern))
        fraction = mantissa / 2**format.mantissa_bits
        if kind == NORMAL:
            expected = (-1) ** sign * 2.0 ** (exponent - format.bias) * (1 + fraction)
        elif kind in (SUBNORMAL, ZERO):
            expected = (-1) ** sign * 2.0**format.least_exponent * fraction
        else:
            assert kind in (INFINITE, NAN) and not math.isfinite(value)
            continue
        assert value == expected


def test_all_patterns_of_integers_are_twos_complement():
    bits = np.arange(256)
    np.testing.assert_array_equal(INT8.decode(bits), bits.astype(np.uint8).view(np.int8))
    np.testing.assert_array_equal(INT8.encode(INT8.decode(bits)), bits)
    assert INT4.decode(np.arange(16)).tolist() == [*range(8), *range(-8, 0)]
    np.testing.assert_array_equal(INT4.encode(INT4.decode(np.arange(16))), np.arange(16))


@settings(max_examples=200)
@given(st.floats(-1e6, 1e6, width=32))
def test_int8_is_rounded_as_torch_rounds_and_clamped(value):
    theirs = torch.tensor(value).round().clamp(-128, 127)
    assert float(INT8.round(value)) == float(theirs)
    assert (INT8.fate(value) == OVERFLOWS) == (float(torch.tensor(value).round()) != float(theirs))


def test_what_becomes_of_a_number():
    assert FLOAT16.fate(65504) == EXACT and FLOAT16.fate(65519) == ROUNDED
    assert FLOAT16.fate(65520) == OVERFLOWS and FLOAT16.fate(math.inf) == EXACT
    assert FLOAT16.fate(2.0**-25) == VANISHES and FLOAT16.fate(2.0**-25 * 1.01) == ROUNDED
    assert BFLOAT16.fate(1e-30) == ROUNDED and FLOAT8_E5M2.fate(1e-30) == VANISHES
    assert FLOAT8_E4M3.fate(464) == ROUNDED and FLOAT8_E4M3.fate(465) == OVERFLOWS
    assert FLOAT8_E4M3.fate(math.inf) == OVERFLOWS and FLOAT8_E4M3.fate(math.nan) == EXACT
    assert INT4.fate(7.4) == ROUNDED and INT4.fate(7.6) == OVERFLOWS and INT4.fate(-8) == EXACT
    assert INT8.fate(0.5) == VANISHES and INT8.fate(math.inf) == OVERFLOWS


def test_what_no_format_can_hold_is_refused_by_name():
    with pytest.raises(ValueError, match="int8 cannot hold NaN"):
        INT8.encode(math.nan)
    with pytest.raises(ValueError, match="a pattern of int4 has 4 bits; got 16"):
        INT4.decode(16)
    with pytest.raises(ValueError, match="a pattern of float16 has 16 bits; got -1"):
        FLOAT16.decode(-1)


def test_the_written_bits_are_the_pattern():
    for format in FORMATS.values():
        for pattern in (0, 1, 2**format.bits - 1, 2 ** (format.bits - 1)):
            text = bit_text(format, pattern)
            assert int(text.replace(" ", ""), 2) == pattern
            assert [len(part) for part in text.split()] == [width for _, width in format.groups]
