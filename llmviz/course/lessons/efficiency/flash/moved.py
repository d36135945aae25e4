"""What attention reads and writes, in whole matrices and in tiles, over the length of the text."""

import streamlit as st

from llmviz.course.figures.attention import Axes, against_size
from llmviz.course.lessons.efficiency.flash import words
from llmviz.course.lessons.efficiency.flash.film import KEY
from llmviz.course.lessons.efficiency.flash.params import HEAD_SIZES, LENGTHS, MEMORIES
from llmviz.course.lessons.efficiency.flash.questions import growth_question
from llmviz.course.ui import kit
from llmviz.nn.attention.traffic import matrix_traffic, square_tile, tile_numbers, tile_traffic

BYTES = 2  # of a number
NEAR = 1.05  # times; less is about as much
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def draw(state: kit.PageState) -> None:
    """Show the controls, both curves, and what they say at the chosen length."""
    kit.section(words.moved)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, values in (
            ("flashlength", words.length, LENGTHS),
            ("fastmemory", words.memory, MEMORIES),
            ("headsize", words.head_size, HEAD_SIZES),
        ):
            names = {str(value): f"{value:,}" for value in values}
            st.select_slider(label, width=230, **state.named(key, names))
        st.toggle(words.skip, help=words.skip_help, **state.bind("skipped"))
    length, size = int(state["flashlength"]), int(state["headsize"])
    room = numbers_in(int(state["fastmemory"]))
    side = square_tile(room, size)
    line = report(length, size, side, room, causal=state["skipped"])
    if kit.predict(
        growth_question(length, size, side, causal=state["skipped"]), f"{KEY}.growth", covers=True
    ):
        kit.chart(curves(length, size, side, state["skipped"], kit.theme()), f"{KEY}.moved")
        line = f"{line} {words.growth}"
    kit.prose(line)
    kit.show_code(
        [tile_traffic, matrix_traffic, square_tile],
        words.snippet_moved.format(room=room, size=size, length=length, causal=state["skipped"]),
        f"{side} {matrix_traffic(length, size)}\n"
        f"{tile_traffic(length, size, side, side, causal=state['skipped'])}",
    )


def end(state: kit.PageState) -> dict[str, str]:
    """Return what both ways move at the chosen length, for the end of the chapter."""
    length, size = int(state["flashlength"]), int(state["headsize"])
    side = square_tile(numbers_in(int(state["fastmemory"])), size)
    tiles = tile_traffic(length, size, side, side, causal=state["skipped"]).moved
    return {
        "length": kit.count(length, "token"),
        "by_tiles": amount(BYTES * tiles),
        "by_matrices": amount(BYTES * matrix_traffic(length, size).moved),
    }


def numbers_in(kibibytes: int) -> int:
    """Return how many numbers fit into so much fast memory."""
    return 1024 * kibibytes // BYTES


@kit.kept(64)
def curves(length: int, size: int, side: int, causal: bool, mode: kit.Mode) -> kit.Figure:
    """Return what both ways move, in MB, over the length of the text."""
    tiles = [tile_traffic(n, size, side, side, causal=causal).moved for n in LENGTHS]
    matrices = [matrix_traffic(n, size).moved for n in LENGTHS]
    ways = {words.by_tiles: tiles, words.by_matrices: matrices}
    series = {name: [BYTES * moved / 1e6 for moved in each] for name, each in ways.items()}
    axes = Axes(words.axis_length, words.axis_moved)
    return against_size(LENGTHS, series, axes, chosen=length, log_y=True, mode=mode)


def report(length: int, size: int, side: int, room: int, *, causal: bool) -> str:
    """Return what both ways move at one length, and what then lies in fast memory."""
    tiles = tile_traffic(length, size, side, side, causal=causal).moved
    matrices = matrix_traffic(length, size).moved
    ratio = matrices / tiles
    much = words.less if ratio > NEAR else words.more if ratio < 1 / NEAR else words.about
    own = min(side, length)
    return words.at.format(
        length=kit.count(length, "token"),
        matrices=amount(BYTES * matrices),
        tiles=amount(BYTES * tiles),
        side=own,
        ratio=much.format(ratio=max(ratio, 1 / ratio)),
        held=tile_numbers(own, own, size),
        room=room,
    )


def amount(size: float) -> str:
    """Return bytes in the largest unit of which there is about one or more.

    >>> amount(1_500_000), amount(999_900), amount(12)
    ('1.5 MB', '1 MB', '12 bytes')
    """
    for unit, name in UNITS:
        if size >= 0.9995 * unit:
            number = size / unit
            return f"{number:,.0f} {name}" if number >= 999.5 else f"{number:.3g} {name}"
    return kit.count(int(size), "byte")
