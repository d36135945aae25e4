"""One number in seven formats: its bits, each of which can be flipped, and what is lost."""

import math

from llmviz.course.components.bit_rows.view import bit_rows, read_pattern
from llmviz.course.lessons.efficiency.bits import words
from llmviz.course.lessons.efficiency.bits.typed_number import read_number
from llmviz.course.ui import kit
from llmviz.quantization.formats import FORMATS, FloatFormat, bit_text

KEY = "efficiency.bits.board"
EXAMPLE = 0.1  # shown where nothing that was typed is a number


def draw(state: kit.PageState) -> float:
    """Show the section; return its number."""
    kit.section(words.board_section)
    number = _typed(state)
    formats = list(FORMATS.values())
    if state["pattern"]:
        try:
            read_pattern(state["pattern"], formats)
        except ValueError as problem:
            kit.warn(words.pattern_lost.format(problem=problem), kit.LINK_ICON)
            state["pattern"] = ""
    labels, notes = zip(*(words.labels[dtype.name] for dtype in formats), strict=True)
    bit_rows(
        formats,
        number,
        key=KEY,
        labels=labels,
        notes=notes,
        words=words.board,
        pattern=state["pattern"],
        on_change=kit.bound(state, KEY, pattern=("pattern", lambda pattern: pattern or "")),
    )
    kit.prose(words.board_text)
    kit.show_code(
        [FloatFormat.encode, FloatFormat.decode],
        words.snippet_one_number.format(number=number),
        lambda: lines_of(number),
    )
    return number


def held_as(number: float) -> dict[str, str]:
    """Return how three formats hold a number, for the end of the chapter."""
    formats = {"half": "float16", "brain": "bfloat16", "eighth": "float8_e4m3"}
    held = {key: written(float(FORMATS[name].round(number)), 9) for key, name in formats.items()}
    return {"number": written(number, 9), **held}


def lines_of(number: float) -> str:
    """Return what the snippet prints: the bits of a number in each floating-point format."""
    floats = [dtype for dtype in FORMATS.values() if isinstance(dtype, FloatFormat)]
    bits = [int(dtype.encode(number)) for dtype in floats]
    return "\n".join(
        f"{dtype.name} {bit_text(dtype, pattern)} {float(dtype.decode(pattern))}"
        for dtype, pattern in zip(floats, bits, strict=True)
    )


def _typed(state: kit.PageState) -> float:
    more = {"help": words.number_help, "width": 260}
    kit.text_input(state, "number", words.number, then=state.setter(pattern=""), **more)
    try:
        return read_number(state["number"])
    except ValueError as problem:
        line = str(problem)
        line = words.not_a_number.format(problem=line[0].upper() + line[1:], number=EXAMPLE)
        kit.warn(line)
        return EXAMPLE


def written(value: float, digits: int = 4) -> str:
    """Return a number with so many digits; very large and small ones as a power of ten.

    >>> written(65504, 5), written(5.9605e-8), written(-0.5), written(math.inf)
    ('65,504', '5.96·10⁻⁸', '−0.5', '∞')
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "−∞" if value < 0 else "∞"
    if value == 0 or 1e-4 <= abs(value) < 1e6:
        rounded = float(f"{value:.{digits}g}")
        return f"{rounded:,.12g}".replace("-", "−")
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    return f"{float(mantissa):g}".replace("-", "−") + "·10" + kit.raised(int(power))
