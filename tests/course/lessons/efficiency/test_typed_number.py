"""Numbers as they are typed: read exactly, or refused with the rule."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.bits.typed_number import read_number


@settings(deadline=None)
@given(some.floats())
def test_every_float_is_read_as_it_is_written(value):
    read = read_number(repr(value))
    assert read == value or (math.isnan(read) and math.isnan(value))
    assert math.isnan(value) or math.copysign(1, read) == math.copysign(1, value)


@settings(deadline=None, max_examples=60)
@given(some.text(max_size=80))
def test_any_text_is_read_or_refused_in_one_line(text):
    try:
        assert isinstance(read_number(text), float)
    except ValueError as error:
        assert "\n" not in str(error) and str(error)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "a number is needed"),
        ("   ", "a number is needed"),
        ("abc", "a number is needed, .* got 'abc'"),
        ("1_000", "a number is needed"),
        ("0x10", "a number is needed"),
        ("snan", "a number is needed"),
        ("1,5", "a number is needed"),
        ("1e400", "1e400 is too large"),
        ("-1e400", "-1e400 is too large"),
        ("1e-400", "1e-400 is too small"),
        ("1e999999999999", "too large"),
        ("1" * 61, "may have 60 characters; got 61"),
    ],
)
def test_what_is_refused_says_the_rule(text, rule):
    with pytest.raises(ValueError, match=rule):
        read_number(text)


def test_a_true_minus_and_spaces_are_read():
    assert read_number(" −0.5 ") == -0.5
    assert read_number("1e-60") == 1e-60
    assert math.isinf(read_number("inf")) and math.isnan(read_number("nan"))
