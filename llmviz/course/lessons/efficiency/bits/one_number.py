"""One number in seven formats: where it comes from, its bits, and what each format can hold."""

import math

import streamlit as st

from llmviz.course.components.bit_rows.view import bit_rows, read_pattern
from llmviz.course.lessons.efficiency.bits import words
from llmviz.course.lessons.efficiency.bits.typed_number import read_number
from llmviz.course.lessons.efficiency.bits.weight_cells import (
    WeightCell,
    matrix_shapes,
    weight_cell,
)
from llmviz.course.lessons.efficiency.bits.written import written
from llmviz.course.ui import engine, kit
from llmviz.quantization.formats import FLOAT16, FORMATS, FloatFormat, IntFormat, bit_text

KEY = "efficiency.bits.board"
EXAMPLE = 0.1  # shown where nothing that was typed is a number


def draw(state: kit.PageState) -> float:
    """Show the section; return its number."""
    kit.section(words.board_section)
    kit.choose(state, "numberfrom", words.source, words.sources, then=state.setter(pattern=""))
    weight = _weight(state) if state["numberfrom"] == "weight" else None
    number = weight.value if weight is not None else _typed(state)
    if weight is None and state["numberfrom"] == "weight":
        kit.prose(words.typed_instead, number=written(number, 9))
    scales = scales_of(weight)
    shown = kit.predict(question(number), f"{KEY}.ask", covers=True)
    _rows(state, number, scales, shown)
    if weight is not None and has_scale(weight):
        kit.prose(words.scaled, largest=written(weight.largest))
    if shown:
        _limits()
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
    if state["numberfrom"] == "typed":
        more = {"help": words.number_help, "width": 260}
        kit.text_input(state, "number", words.number, then=state.setter(pattern=""), **more)
    try:
        return read_number(state["number"])
    except ValueError as problem:
        line = str(problem)
        number = words.not_a_number.format(problem=line[0].upper() + line[1:], number=EXAMPLE)
        kit.warn(number)
        return EXAMPLE


def _weight(state: kit.PageState) -> WeightCell | None:
    """Show which weight it is and return it; None, after one line, where there is none."""
    model_name = state["bitmodel"]
    names = [*engine.names(), *kit.offered(lambda card: True, model_name)]
    if not names:
        kit.no_model(model_name)
        return None
    kit.keep(state, "bitmodel", names)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.selectbox(
            words.model,
            names,
            format_func=kit.label,
            width=260,
            **state.bind("bitmodel", then=state.setter(pattern="", bitmatrix="")),
        )
        bundled = kit.load(state["bitmodel"])
        if bundled is None:
            return None
        shapes = matrix_shapes(bundled.model)
        if not shapes:
            kit.warn(words.no_matrix.format(model=bundled.name))
            return None
        matrix = _matrix(state, list(shapes))
        place = []
        for axis, (key, name) in enumerate((("bitrow", words.row), ("bitcolumn", words.column))):
            most = shapes[matrix][axis] - 1
            slot = state.ranged(key, most=most, then=state.setter(pattern=""))
            st.number_input(name, width=120, **slot)
            place.append(min(state[key], most))
    if (kit.card_of(bundled.name) or {}).get("weights") == "float16":
        kit.prose(words.stored_16)
    return _cell(bundled, matrix, *place)


def _matrix(state: kit.PageState, names: list[str]) -> str:
    """Show the choice of a matrix; one that a link names and the model lacks is told."""
    chosen = kit.keep(state, "bitmatrix", names) if state["bitmatrix"] else names[0]
    slot = kit.tied(
        f"_{KEY}.matrix", chosen, lambda name: state.setter(pattern="", bitmatrix=name)()
    )
    st.selectbox(words.matrix, names, width=260, **slot)
    return chosen


_cell = kit.kept(256)(kit.on_model(weight_cell))


def has_scale(weight: WeightCell) -> bool:
    """Whether a scale fits the weight's matrix: not if all of it is 0, or some is no number."""
    return 0 < weight.largest < math.inf


def scales_of(weight: WeightCell | None) -> list[float]:
    """Return what an integer of each format is multiplied by; 1 where there is no scale."""
    if weight is None or not has_scale(weight):
        return [1.0] * len(FORMATS)
    return [
        weight.largest / dtype.largest if isinstance(dtype, IntFormat) else 1.0
        for dtype in FORMATS.values()
    ]


def _rows(state: kit.PageState, number: float, scales: list[float], shown: bool) -> None:
    """Show the bits; shown: also how far it is to the next number, which the question asks for."""
    formats = list(FORMATS.values())
    pattern = state["pattern"]
    if pattern:
        try:
            read_pattern(pattern, formats)
        except ValueError as problem:
            kit.warn(words.pattern_lost.format(problem=problem), kit.LINK_ICON)
            pattern = state["pattern"] = ""
    labels, notes = zip(*(words.labels[dtype.name] for dtype in formats), strict=True)
    bit_rows(
        formats,
        number,
        key=KEY,
        labels=labels,
        notes=notes,
        words=words.board if shown else {**words.board, "spacing": ""},
        scales=scales,
        pattern=pattern,
        on_change=kit.bound(state, KEY, pattern=("pattern", lambda pattern: pattern or "")),
    )


def question(number: float) -> kit.Question:
    """Ask for the distance from a number, as float16 holds it, to the next; else from 1.

    From 1 where float16 holds it as a subnormal number, or where none follows.
    """
    held = float(FLOAT16.round(abs(number)))
    if not FLOAT16.smallest_normal <= held < FLOAT16.largest:
        held = 1.0
    gap = float(FLOAT16.spacing(held))
    power = math.frexp(held)[1] - 1
    known = {"right": gap, "half": gap / 2, "bfloat16": gap * 2**3, "float32": gap / 2**13}
    return kit.Question.among(
        words.gap_ask,
        {value: words.gap_reasons[name] for name, value in known.items()},
        gap,
        written,
        number=written(held, 9),
        power=str(power).replace("-", "−"),
    )


def _limits() -> None:
    box = kit.fold(words.limits_title, f"{KEY}.limits", ":material/table_rows:")
    if box is not None:
        with box:
            kit.rows_table(limits(), words.limits)
            kit.prose(words.limits_note)


@kit.kept(1)
def limits() -> list[tuple[str, ...]]:
    """Return a row for each format: its bits, its largest and smallest numbers, its steps."""
    rows = []
    for dtype in FORMATS.values():
        name, bits = words.labels[dtype.name][0], str(dtype.bits)
        if isinstance(dtype, FloatFormat):
            normal = f"2{kit.raised(dtype.least_exponent)}"
            least = f"2{kit.raised(dtype.least_exponent - dtype.mantissa_bits)}"
            step = f"2{kit.raised(-dtype.mantissa_bits)}"
            rows.append((name, bits, written(dtype.largest, 5), normal, least, step))
        else:
            rows.append((name, bits, written(dtype.largest, 5), "–", "1", "1"))
    return rows
