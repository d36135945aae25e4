"""Number formats, bit by bit: from a value to its bits and back.

A floating-point number is sign × 2^e × 1.m: one bit for the sign, a few for e, the rest for the
fraction m. Where the bits of e are all zero it is sign × 2^(least e) × 0.m, a subnormal number. An
integer is two's complement. Everything is computed with NumPy in float64, which holds every number
of every format here exactly.

Reference: IEEE 754-2019, section 3.4 (float32, float16); bfloat16 has float32's exponent and 7 bits
of fraction; Micikevicius et al. 2022, "FP8 formats for deep learning", table 1 (float8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

ZERO, SUBNORMAL, NORMAL, INFINITE, NAN = "zero", "subnormal", "normal", "infinite", "nan"
EXACT, ROUNDED, VANISHES, OVERFLOWS = "exact", "rounded", "vanishes", "overflows"


class Fields(NamedTuple):
    """The bits of a floating-point number in their three groups, each as a whole number."""

    sign: int
    exponent: int
    mantissa: int


@dataclass(frozen=True)
class FloatFormat:
    """A floating-point format: one bit of sign, then the bits of the exponent, then the fraction.

    has_infinity: the highest exponent is kept for infinity and NaN, as in IEEE 754. Without it only
    the pattern of all ones is NaN, and what is too large becomes the largest number, as torch's
    float8_e4m3fn does it; some hardware makes NaN of it.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    has_infinity: bool = True

    @property
    def bits(self) -> int:
        """Bits of a number."""
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Names and numbers of bits of what a number is made of, the highest bit first."""
        return (("sign", 1), ("exponent", self.exponent_bits), ("mantissa", self.mantissa_bits))

    @property
    def bias(self) -> int:
        """What is taken from the exponent's bits to get e."""
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def least_exponent(self) -> int:
        """The e of the smallest normal number, which subnormal numbers have too."""
        return 1 - self.bias

    @property
    def largest_bits(self) -> int:
        """The pattern of the largest finite number."""
        ones = 2 ** (self.bits - 1) - 1  # all but the sign
        return ones - 2**self.mantissa_bits if self.has_infinity else ones - 1

    @property
    def nan_bits(self) -> int:
        """The pattern that is written for NaN."""
        if not self.has_infinity:
            return self.largest_bits + 1
        return self.largest_bits + 1 + 2 ** (self.mantissa_bits - 1)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return float(self.decode(self.largest_bits))

    @property
    def smallest_normal(self) -> float:
        """The smallest number above 0 with all bits of its fraction."""
        return 2.0**self.least_exponent

    @property
    def smallest(self) -> float:
        """The smallest number above 0, which is subnormal."""
        return 2.0 ** (self.least_exponent - self.mantissa_bits)

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next larger number."""
        return 2.0**-self.mantissa_bits

    def encode(self, values: object) -> np.ndarray:
        """Return the bits (...) uint32 of the nearest numbers; ties go to the even fraction.

        What is too large becomes infinity, or the largest number where there is no infinity. NaN
        becomes ``nan_bits``, whatever its sign.
        """
        with np.errstate(invalid="ignore"):  # NaN has patterns that warn when they are widened
            values = np.asarray(values, dtype=np.float64)
        size = np.where(np.isfinite(values), np.abs(values), 0.0)
        exponent = self._exponent(size)
        # The fraction in steps of its last bit; rint rounds ties to even. One that is rounded up to
        # the next power of two carries into the exponent by itself.
        steps = np.rint(np.ldexp(size, self.mantissa_bits - exponent)).astype(np.int64)
        bits = (exponent - self.least_exponent).astype(np.int64) * 2**self.mantissa_bits + steps
        most = self.largest_bits + 1 if self.has_infinity else self.largest_bits
        bits = np.where(np.isinf(values), most, np.minimum(bits, most))
        bits = bits + np.signbit(values) * 2 ** (self.bits - 1)
        return np.where(np.isnan(values), self.nan_bits, bits).astype(np.uint32)

    def decode(self, bits: object) -> np.ndarray:
        """Return the values (...) float64 of patterns of bits. Raises ValueError: too many bits."""
        sign, exponent, mantissa = (part.astype(np.float64) for part in self._split(bits))
        stored = np.where(exponent > 0, 2.0**self.mantissa_bits, 0.0) + mantissa  # with its 1
        power = np.maximum(exponent, 1) - self.bias - self.mantissa_bits
        values = np.ldexp(stored, power.astype(np.int64))
        special = exponent == 2**self.exponent_bits - 1
        if self.has_infinity:
            values = np.where(special, np.where(mantissa == 0, np.inf, np.nan), values)
        else:
            values = np.where(special & (mantissa == 2**self.mantissa_bits - 1), np.nan, values)
        return np.where(sign == 1, -values, values)

    def fields(self, bits: int) -> Fields:
        """Return sign, exponent and fraction of a pattern. Raises ValueError: too many bits."""
        return Fields(*(int(part) for part in self._split(bits)))

    def kind(self, bits: int) -> str:
        """Return what a pattern is: ZERO, SUBNORMAL, NORMAL, INFINITE or NAN."""
        value = float(self.decode(bits))
        if np.isnan(value):
            return NAN
        if np.isinf(value):
            return INFINITE
        if value == 0:
            return ZERO
        return NORMAL if self.fields(bits).exponent else SUBNORMAL

    def round(self, values: object) -> np.ndarray:
        """Return the nearest numbers (...) of the format, in float64."""
        return self.decode(self.encode(values))

    def spacing(self, values: object) -> np.ndarray:
        """Return how far the next larger magnitude is from each number (...), in float64.

        For the largest number: as far as the one below it. NaN for infinity and NaN.
        """
        values = self.round(values)
        size = np.where(np.isfinite(values), np.abs(values), 0.0)
        exponent = self._exponent(size)
        return np.where(np.isfinite(values), np.ldexp(1.0, exponent - self.mantissa_bits), np.nan)

    def fate(self, value: float) -> str:
        """Return what becomes of a number: EXACT, ROUNDED, VANISHES (to 0) or OVERFLOWS."""
        held = float(self.round(value))
        if self.has_infinity:
            return _fate(value, held, np.isinf(held) and not np.isinf(value))
        return _fate(value, held, abs(value) > self.largest + float(self.spacing(held)) / 2)

    def _exponent(self, size: np.ndarray) -> np.ndarray:
        """The e of sizes (...) that are finite and not negative."""
        exponent = np.where(size > 0, np.frexp(size)[1] - 1, self.least_exponent)
        return np.maximum(exponent, self.least_exponent)

    def _split(self, bits: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        whole = _checked(bits, self)
        exponent = (whole >> self.mantissa_bits) & (2**self.exponent_bits - 1)
        return whole >> (self.bits - 1), exponent, whole & (2**self.mantissa_bits - 1)


@dataclass(frozen=True)
class IntFormat:
    """Whole numbers in two's complement: the highest bit counts as −2^(bits − 1)."""

    name: str
    bits: int

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """Names and numbers of bits of what a number is made of, the highest bit first."""
        return (("sign", 1), ("integer", self.bits - 1))

    @property
    def largest(self) -> float:
        """The largest number."""
        return float(2 ** (self.bits - 1) - 1)

    @property
    def least(self) -> float:
        """The lowest number."""
        return -float(2 ** (self.bits - 1))

    @property
    def smallest(self) -> float:
        """The smallest number above 0."""
        return 1.0

    def encode(self, values: object) -> np.ndarray:
        """Return the bits (...) uint32 of the nearest whole numbers; ties go to the even one.

        What is too large or too low becomes the largest or the lowest number. Raises ValueError
        for NaN, which no integer can stand for.
        """
        values = np.asarray(values, dtype=np.float64)
        if np.isnan(values).any():
            raise ValueError(f"{self.name} cannot hold NaN")
        whole = np.clip(np.rint(values), self.least, self.largest).astype(np.int64)
        return (whole % 2**self.bits).astype(np.uint32)

    def decode(self, bits: object) -> np.ndarray:
        """Return the values (...) float64 of patterns of bits. Raises ValueError: too many bits."""
        whole = _checked(bits, self)
        return np.where(whole > self.largest, whole - 2**self.bits, whole).astype(np.float64)

    def kind(self, bits: int) -> str:
        """Return what a pattern is: ZERO or NORMAL."""
        return NORMAL if float(self.decode(bits)) else ZERO

    def round(self, values: object) -> np.ndarray:
        """Return the nearest numbers (...) of the format, in float64."""
        return self.decode(self.encode(values))

    def spacing(self, values: object) -> np.ndarray:
        """Return how far the next number is from each (...): 1."""
        return np.ones_like(self.round(values))

    def fate(self, value: float) -> str:
        """Return what becomes of a number: EXACT, ROUNDED, VANISHES (to 0) or OVERFLOWS.

        Raises ValueError for NaN.
        """
        held = float(self.round(value))
        return _fate(value, held, float(np.rint(value)) != held)


Format = FloatFormat | IntFormat

FLOAT32 = FloatFormat("float32", 8, 23)
FLOAT16 = FloatFormat("float16", 5, 10)
BFLOAT16 = FloatFormat("bfloat16", 8, 7)
FLOAT8_E4M3 = FloatFormat("float8_e4m3", 4, 3, has_infinity=False)
FLOAT8_E5M2 = FloatFormat("float8_e5m2", 5, 2)
INT8 = IntFormat("int8", 8)
INT4 = IntFormat("int4", 4)
FORMATS: Mapping[str, Format] = MappingProxyType(
    {fmt.name: fmt for fmt in (FLOAT32, FLOAT16, BFLOAT16, FLOAT8_E4M3, FLOAT8_E5M2, INT8, INT4)}
)


def bit_text(format: Format, bits: int) -> str:
    """Return a pattern as ones and zeros, its groups apart.

    >>> bit_text(FLOAT16, 0x3C00), bit_text(INT4, 15)
    ('0 01111 0000000000', '1 111')
    """
    digits = f"{int(_checked(bits, format)):0{format.bits}b}"
    parts = []
    for _, width in format.groups:
        parts.append(digits[:width])
        digits = digits[width:]
    return " ".join(parts)


def _fate(value: float, held: float, too_large: bool) -> str:
    """What became of a number that is held as another one, or as itself."""
    if held == value or (np.isnan(held) and np.isnan(value)):
        return EXACT
    if too_large:
        return OVERFLOWS
    return VANISHES if held == 0 else ROUNDED


def _checked(bits: object, format: Format) -> np.ndarray:
    whole = np.asarray(bits, dtype=np.int64)
    if ((whole < 0) | (whole >= 2**format.bits)).any():
        raise ValueError(f"a pattern of {format.name} has {format.bits} bits; got {bits}")
    return whole
