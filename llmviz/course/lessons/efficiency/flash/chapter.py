"""Chapter "Flash attention": softmax in tiles, what that saves, and what it takes here."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from torch import nn

from llmviz.course.components.tile_film.view import ROWS, tile_film
from llmviz.course.figures.attention import Axes, against_size
from llmviz.course.figures.lines import Line, lines
from llmviz.course.lessons.efficiency.flash import (
    DRAWN,
    HEAD_SIZES,
    LENGTHS,
    MEMORIES,
    SIDE,
    words,
)
from llmviz.course.lessons.efficiency.flash.model import (
    HEAD_SIZE,
    HEADS,
    MEASURED,
    TILE,
    TRIES,
    WAYS,
    AttentionCost,
    TiledText,
    count_rescalings,
    require_softmax_after_mask,
    tiles_on_text,
)
from llmviz.course.ui import engine, kit
from llmviz.models.gpt import GPT
from llmviz.models.memory_limits import spoken_bytes
from llmviz.models.transformers import require_transformer
from llmviz.nn.attention.tiled import tile_steps
from llmviz.nn.attention.traffic import matrix_traffic, square_tile, tile_numbers, tile_traffic

KEY, GUESS = "efficiency.flash", "efficiency.flash.sum"
BYTES = 2  # of a number
NEAR = 1.05  # times; less is about as much
PLAIN = 0.5  # the factor that is best asked about
CLEAR_FACTORS = (0.2, 0.8)  # and those that may be: with them the answers lie apart
measuring = kit.job_of("llmviz.course.lessons.efficiency.flash.model:attention_costs")


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the tiles up to the one that is asked about, then all; and what they save."""
    kit.prose(words.hook)
    stage, below = kit.stage("flash"), st.container()
    with below:
        kit.text_box(state, height=80)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            name = kit.Picker("flashmodel").choose(state)
            found = kit.load_and_read(state, name, DRAWN, _require)
            head = None if found is None else _head(state, *found)
    tiles, shown = None, True
    if found is not None and head is not None:
        bundled, read = found
        tiles = tiles_of(bundled, read.ids, *head, state["tile"])
        with stage:
            shown = _stage(state, tiles, read)
        if shown:
            kit.looks(state, words.looks, f"{KEY}.looks", **places(tiles))
            kit.prose(report(tiles))
        kit.head_link(words.whole_link, state["text"], bundled.name, *head)
        _code(bundled, read, state["tile"], head, tiles)
    moved = _moved(state)
    kit.section(words.times_section)
    kit.live(
        state,
        "flashtimes",
        measuring,
        (),
        _measured,
        start=words.times_start,
        share=lambda job: len(job.results) / (len(WAYS) * len(MEASURED)),
        said=kit.JobWords(words.times_going, words.times_stopped, words.times_again),
    )
    kit.measured(words.how_timed, heads=HEADS, size=HEAD_SIZE, side=TILE, tries=TRIES)
    if tiles is not None and shown:
        kit.seen(words.end, tiles=kit.count(len(tiles.tiles), "tile"), moved=moved)


def _require(model: nn.Module) -> GPT:
    gpt = require_transformer(model)
    require_softmax_after_mask(gpt)
    return gpt


def _head(state: kit.PageState, bundled: engine.Bundled, read: kit.Read) -> tuple[int, int]:
    """Show the choice of a layer and a head; return both, those with most larger maxima first."""
    counted = rescalings(bundled, read.ids)
    keys = ("flashlayer", "flashhead")
    for key, size in zip(keys, counted.shape, strict=True):
        if state[key] >= 0:
            kit.keep(state, key, range(size))
    fits = np.full(counted.shape, -1)
    chosen = tuple(slice(None) if state[key] < 0 else state[key] for key in keys)
    fits[chosen] = counted[chosen]
    layer, head = (int(index) for index in np.unravel_index(int(fits.argmax()), fits.shape))
    labels = (words.layer, words.head)
    for key, label, size, now in zip(keys, labels, counted.shape, (layer, head), strict=True):
        slot = kit.tied(f"_{KEY}.{key}", now, state.taker(key))
        st.selectbox(label, range(size), width=90, **slot)
    return layer, head


@kit.cached(64)
def rescalings(bundled: engine.Bundled, ids: tuple[int, ...]) -> np.ndarray:
    """Return how often larger maxima come in each head of a model on a text, (L, H)."""
    return count_rescalings(bundled.model, ids, SIDE)


tiles_of = kit.cached(64)(kit.on_model(tiles_on_text))


def _stage(state: kit.PageState, tiles: TiledText, read: kit.Read) -> bool:
    """Draw the tiles and the guess on the sum; return whether all is shown."""
    place = rise(tiles)
    guess = kit.Guess(GUESS, None if place is None else question(tiles, read.tokens))
    shown = guess.open
    drawn = tiles if shown or place is None else begun(tiles, place[0])
    step = state["tilestep"] if shown else min(state["tilestep"] or 99, len(drawn.tiles) - 1)
    tile_film(
        read.tokens,
        drawn,
        key=f"{KEY}.film",
        captions=captions(tiles, read.tokens)[: len(drawn.tiles)],
        words=words.film,
        step=step,
        on_change=kit.bound(
            state, f"{KEY}.film", step=("tilestep", kit.one_of(range(len(drawn.tiles))))
        ),
    )
    st.slider(words.tile, width=240, **state.ranged("tile"))
    if place is not None:
        total = float(tiles.total_before[place])
        values = (total, guess.right[0] if guess.question else total * float(tiles.rescale[place]))
        offered = guess.question.values if guess.question else ()
        guess.cases(
            [kit.Case(label, value) for label, value in zip(words.sums, values, strict=True)],
            kit.Axis(0, 1.1 * max(*values, *(value for (value,) in offered)), words.sum_axis),
            veiled=[1],
            picture=f"{KEY}.guess",
            form="figure",
        )
    return guess.ask()


def begun(tiles: TiledText, number: int) -> TiledText:
    """Return only the first tiles of a text, at least one; of later ones nothing is told."""
    cells = np.full(tiles.scores.shape, np.nan)
    for top, bottom, first, end in tiles.tiles[:number]:
        cells[top:bottom, first:end] = 1.0
    cut = {name: getattr(tiles, name)[:number] for name in (*ROWS, "tiles", "output", "read")}
    return replace(
        tiles,
        scores=np.where(np.isnan(tiles.scores), np.nan, np.where(cells == 1, tiles.scores, 0.0)),
        exponentials=np.nan_to_num(tiles.exponentials * cells),
        written=tiles.written[:number],
        **cut,
    )


def rise(tiles: TiledText) -> tuple[int, int] | None:
    """Return the tile and the row in it whose sum shrinks to about a half; None if none does."""
    low, high = CLEAR_FACTORS
    shrinks = (tiles.total_before > 0) & (tiles.rescale > low) & (tiles.rescale < high)
    if not shrinks.any():
        return None
    far = np.where(shrinks, np.abs(tiles.rescale - PLAIN), np.inf)
    step, row = np.unravel_index(int(far.argmin()), far.shape)
    return int(step), int(row)


def question(tiles: TiledText, names: Sequence[str]) -> kit.Question | None:
    """Ask what a larger maximum does to the sum so far. None where no row has one.

    The wrong answers: what is added stays, a larger maximum makes the sum larger, and what was
    added is thrown away.
    """
    place = rise(tiles)
    if place is None:
        return None
    old, new = float(tiles.maximum_before[place]), float(tiles.maximum[place])
    total, factor = float(tiles.total_before[place]), math.exp(old - new)
    right, grown = total * factor, total / factor
    return kit.Question.among(
        words.ask,
        {
            0.0: words.ask_nothing,
            total: words.ask_same,
            grown: words.ask_grown,
            right: words.ask_right,
        },
        right,
        digits,
        row=kit.quote(names[int(tiles.tiles[place[0], 0]) + place[1]]),
        tile=place[0],
        old=digits(old),
        old_=kit.operand(digits(old)),
        new=digits(new),
        total=digits(total),
        factor=digits(factor),
        right=digits(right),
    )


def digits(value: float) -> str:
    """Return a number with three decimals and a true minus sign.

    >>> digits(-1.5), digits(-0.0001)
    ('−1.500', '0.000')
    """
    return kit.signed(value, 3)


def places(tiles: TiledText) -> dict[str, int]:
    """Return the tiles that the looks speak of: the first of a second strip, a rise, the last."""
    last = len(tiles.tiles) - 1
    own = rise(tiles)
    starts = [n for n, tile in enumerate(tiles.tiles) if tile[2] == 0 and n]
    return {"first": starts[0] if starts else 0, "rise": own[0] if own else last, "last": last}


def captions(tiles: TiledText, names: Sequence[str]) -> list[str]:
    captions = []
    for n, (top, bottom, first, end) in enumerate(tiles.tiles.tolist()):
        had = tiles.total_before[n] > 0
        rises = int((had & (tiles.maximum[n] > tiles.maximum_before[n])).sum())
        change = words.first if not had.any() else words.no_rise
        if rises:
            gets = words.gets if rises == 1 else words.get.format(count=rises)
            change = words.rise.format(rows=gets)
        last = n + 1 == len(tiles.tiles) or tiles.tiles[n + 1, 0] != top
        line = words.caption.format(
            number=n + 1,
            all=len(tiles.tiles),
            rows=_span(names, top, bottom, words.row, words.rows),
            columns=_span(names, first, end, words.column, words.columns),
            change=change,
            end=words.ended if last else "",
        )
        captions.append(line.strip())
    return captions


def _span(names: Sequence[str], first: int, end: int, single: str, several: str) -> str:
    quoted = [f"“{names[place]}”" for place in (first, end - 1)]
    return (single if end - first == 1 else several).format(first=quoted[0], last=quoted[1])


def report(tiles: TiledText) -> str:
    """Return how far the output of the tiles is from that of the whole matrix."""
    line = words.exact
    if tiles.difference:
        line = words.equal.format(difference=kit.power_of_ten(tiles.difference))
    return f"{line} {words.one_tile}" if len(tiles.tiles) == 1 else line


def _code(
    bundled: engine.Bundled, read: kit.Read, side: int, head: tuple[int, int], tiles: TiledText
) -> None:
    # The last strip of rows: of its first row, the maximum and the sum after each tile.
    own = [n for n, tile in enumerate(tiles.tiles) if tile[0] == tiles.tiles[-1, 0]]
    kit.show_code(
        [tile_steps],
        words.snippet_film.format(
            name=bundled.name, ids=list(read.ids), layer=head[0], number=head[1], side=side
        ),
        "\n".join([f"{tiles.maximum[n, 0]:.3f} {tiles.total[n, 0]:.3f}" for n in own] + ["True"]),
    )


def _moved(state: kit.PageState) -> str:
    """Show what attention reads and writes in both ways; return it for one length, as a line."""
    kit.section(words.moved)
    length, size, causal = int(state["flashlength"]), int(state["headsize"]), state["skipped"]
    room = numbers_in(int(state["fastmemory"]))
    side = square_tile(room, size)
    kit.chart(curves(length, size, side, causal, kit.theme()), f"{KEY}.moved")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        for key, label, values in (
            ("flashlength", words.length, LENGTHS),
            ("fastmemory", words.memory, MEMORIES),
            ("headsize", words.head_size, HEAD_SIZES),
        ):
            names = {str(value): f"{value:,}" for value in values}
            st.select_slider(label, width=230, **state.named(key, names))
        st.toggle(words.skip, help=words.skip_help, **state.bind("skipped"))
    line = moved_line(length, size, side, causal=causal)
    own = min(side, length)
    kit.prose(f"{line} {words.growth}")
    kit.measured(words.how_moved, side=own, held=tile_numbers(own, own, size), room=room)
    kit.show_code(
        [tile_traffic, matrix_traffic, square_tile],
        words.snippet_moved.format(room=room, size=size, length=length, causal=causal),
        f"{side} {matrix_traffic(length, size)}\n"
        f"{tile_traffic(length, size, side, side, causal=causal)}",
    )
    return line


def numbers_in(kibibytes: int) -> int:
    """Return how many numbers fit into so much fast memory."""
    return 1024 * kibibytes // BYTES


@kit.cached(64)
def curves(length: int, size: int, side: int, causal: bool, mode: kit.Mode) -> kit.Figure:
    """Return what both ways move, in MB, over the length of the text."""
    tiles = [tile_traffic(n, size, side, side, causal=causal).moved for n in LENGTHS]
    matrices = [matrix_traffic(n, size).moved for n in LENGTHS]
    ways = {words.by_tiles: tiles, words.by_matrices: matrices}
    series = {name: [BYTES * numbers / 1e6 for numbers in each] for name, each in ways.items()}
    axes = Axes(words.axis_length, words.axis_moved)
    return against_size(LENGTHS, series, axes, chosen=length, log_y=True, mode=mode)


def moved_line(length: int, size: int, side: int, *, causal: bool) -> str:
    tiles = tile_traffic(length, size, side, side, causal=causal).moved
    matrices = matrix_traffic(length, size).moved
    ratio = matrices / tiles
    much = words.less if ratio > NEAR else words.more if ratio < 1 / NEAR else words.about
    return words.at.format(
        length=kit.count(length, "token"),
        matrices=spoken_bytes(BYTES * matrices),
        tiles=spoken_bytes(BYTES * tiles),
        ratio=much.format(ratio=max(ratio, 1 / ratio)),
    )


def _measured(job: kit.Job) -> None:
    if costs := tuple(job.results):
        names = (words.times_name, words.peak_name)
        drawn = zip(st.columns(2, gap="large"), figures(costs, kit.theme()), names, strict=True)
        for place, figure, name in drawn:
            place.caption(name)
            place.plotly_chart(figure, key=f"{KEY}.{name}", theme=None)
        kit.prose(times_line(costs))


@kit.cached(32)
def figures(costs: tuple[AttentionCost, ...], mode: kit.Mode) -> tuple[kit.Figure, ...]:
    """Return time and memory over the length of the text."""
    both = []
    for name, axes in (("milliseconds", words.times_axes), ("megabytes", words.peak_axes)):
        drawn = []
        for number, way in enumerate(WAYS):
            own = [cost for cost in costs if cost.way == way]
            values = [getattr(cost, name) for cost in own]
            drawn.append(Line(words.ways[way], [cost.length for cost in own], values, number))
        log = (True, True)
        both.append(lines(drawn, axes, mode, logarithmic=log, height=320, ticks=MEASURED))
    return tuple(both)


def times_line(costs: tuple[AttentionCost, ...]) -> str:
    """Return what each way took at the longest text that all were measured at; "" before."""
    whole = len(costs) // len(WAYS) * len(WAYS)
    if not whole:
        return ""
    last = costs[whole - len(WAYS) : whole]
    line: dict[str, Any] = {cost.way: cost.milliseconds for cost in last}
    line |= {f"{cost.way}_memory": spoken_bytes(cost.memory) for cost in last}
    return words.times_read.format(length=kit.count(last[0].length, "token"), **line)
