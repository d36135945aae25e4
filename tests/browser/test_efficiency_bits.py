"""Bits under a hand: a flipped bit, its value, and the same arithmetic in the browser as here."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import expect

from llmviz.course.components._shared.bundle import COMPONENTS
from llmviz.quantization.formats import FLOAT16, FLOAT32, FORMATS, FloatFormat
from tests.browser.hand import frames
from tests.browser.test_tokenization import wait_for_address

SOURCE = COMPONENTS / "bit_rows" / "formats.js"
NAMES = "encode, decode, spacing, fate"


def row(page, name):
    return page.locator(f'.bits-row:not(.film)[data-format="{name}"]')


def test_bits_are_flipped_by_hand_and_keys_and_tell_what_a_format_cannot_hold(visit):
    visit.open("efficiency?part=bits&number=1&show=1&added=0", ".bits-row")
    a_flipped_bit_changes_the_value_at_once_and_goes_into_the_link(visit.page)
    the_film_plays_the_bits_of_the_sums(visit.page)
    what_a_format_cannot_hold_is_told(visit.page)
    the_keys_flip_bits_which_are_all_within_the_screen_of_a_phone(visit.page)
    visit.assert_clean()


def type_number(page, number):
    box = page.get_by_label("Number", exact=True)
    box.fill(number)
    box.press("Enter")


def a_flipped_bit_changes_the_value_at_once_and_goes_into_the_link(page):
    half = row(page, "float16")
    assert "".join(half.locator(".bit").all_inner_texts()) == f"{int(FLOAT16.encode(1)):016b}"
    half.locator(".bit").nth(0).click()
    expect(half.locator(".bits-value")).to_have_text("−1")
    half.locator(".bit").nth(15).click()
    held = float(FLOAT16.decode(0xBC01))
    expect(half.locator(".bits-value")).to_have_text(str(round(held, 8)).replace("-", "−"))
    expect(half.locator(".bits-formula")).to_have_text("= − 2⁰ × (1 + 1/1024)")
    expect(half.locator(".bits-fate")).to_have_text("exact")
    # The same number in the other formats: exact in float32, rounded in bfloat16.
    assert "".join(row(page, "float32").locator(".bit").all_inner_texts()) == (
        f"{int(FLOAT32.encode(held)):032b}"
    )
    expect(row(page, "bfloat16").locator(".bits-fate")).to_contain_text("error 0.000977")
    wait_for_address(page, "pattern", f"float16:{0xBC01}")
    page.get_by_role("button", name="Back to the number").click()
    expect(half.locator(".bits-value")).to_have_text("1")


def the_film_plays_the_bits_of_the_sums(page):
    half = page.locator('.bits-row.film[data-format="float16"]')
    expect(half.locator(".bits-value")).to_have_text("1")
    page.get_by_role("button", name="one step on").first.click()
    expect(half.locator(".bits-value")).to_have_text("1.00097656")
    expect(half.locator(".bit.turned")).to_have_count(1)
    expect(page.locator('.bits-row.film[data-format="bfloat16"] .bit.turned')).to_have_count(0)
    expect(page.locator(".bits-line")).to_contain_text("Additions so far: 1.")
    wait_for_address(page, "added", "1")


def what_a_format_cannot_hold_is_told(page):
    type_number(page, "-70000")
    for name, value in (("float16", "−∞"), ("float8_e4m3", "−448"), ("int4", "−8")):
        part = row(page, name)
        expect(part.locator(".bits-value")).to_have_text(value)
        expect(part.locator(".bits-fate")).to_have_text(f"out of range: it becomes {value}")
    type_number(page, "1e-60")
    expect(row(page, "float32").locator(".bits-fate")).to_have_text("vanishes: it becomes 0")
    type_number(page, "nan")
    expect(row(page, "int8").locator(".bits-value")).to_have_text("holds no NaN")


def the_keys_flip_bits_which_are_all_within_the_screen_of_a_phone(page):
    type_number(page, "0")
    bits = row(page, "int4").locator(".bit")
    expect(row(page, "int8").locator(".bits-value")).to_have_text("0")
    bits.nth(0).focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(row(page, "int4").locator(".bits-value")).to_have_text("1")
    expect(row(page, "float8_e4m3").locator(".bits-value")).to_have_text("1")
    page.set_viewport_size({"width": 390, "height": 844})
    frames(page)
    rights = page.locator(".bits-row:not(.film) .bit").evaluate_all(
        "bits => bits.map(bit => bit.getBoundingClientRect().right)"
    )
    assert len(rights) == sum(one.bits for one in FORMATS.values()) and max(rights) <= 390


def as_sent(format):
    real = isinstance(format, FloatFormat)
    return {
        "bits": format.bits,
        "exponent": format.exponent_bits if real else 0,
        "mantissa": format.mantissa_bits if real else 0,
        "infinity": real and format.has_infinity,
    }


def test_the_browser_computes_what_the_engine_computes(visit):
    """Every pattern of up to 16 bits, and numbers of all sizes."""
    plain = SOURCE.read_text("utf-8").replace("export function", "function")
    page = visit.page
    page.goto("about:blank")
    page.evaluate(f"window.bits = (() => {{ {plain}; return {{ {NAMES} }}; }})()")
    draw = np.random.default_rng(0)
    raw = draw.integers(0, 2**64, 800, dtype=np.uint64).view(np.float64)
    middle = draw.normal(size=800) * 10.0 ** draw.integers(-12, 8, 800)
    ties = (np.arange(-300, 300) + 0.5) * 2.0**-10
    numbers = np.concatenate([raw[np.isfinite(raw)], middle, ties, [0.0, -0.0, np.inf, -np.inf]])
    for format in FORMATS.values():
        count = min(2**format.bits, 2**16)
        patterns = np.arange(count) if format.bits <= 16 else draw.integers(0, 2**32, count)
        values, encoded, gaps, fates = page.evaluate(
            """([format, patterns, numbers]) => {
                const held = numbers.map((x) => bits.encode(format, x));
                return [
                    patterns.map((one) => bits.decode(format, one)),
                    held,
                    held.map((one) => bits.spacing(format, one) ?? NaN),
                    numbers.map((x, i) => bits.fate(format, x, held[i])),
                ];
            }""",
            [as_sent(format), patterns.tolist(), numbers.tolist()],
        )
        values = np.array(values, dtype=np.float64)  # whole ones come as int
        ours = format.decode(patterns)
        np.testing.assert_array_equal(values, ours)
        number = ~np.isnan(ours)  # which has a sign in its bits alone
        np.testing.assert_array_equal(np.signbit(values[number]), np.signbit(ours[number]))
        np.testing.assert_array_equal(encoded, format.encode(numbers))
        gaps = np.array(gaps, dtype=np.float64)
        np.testing.assert_array_equal(gaps, format.spacing(numbers))
        assert fates == [format.fate(float(one)) for one in numbers]
