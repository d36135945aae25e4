"""The matrix in tiles: one head on the learner's text, played tile by tile.

T tokens, N tiles.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from torch import nn

from llmviz.course.components.tile_film.view import tile_film
from llmviz.course.lessons.efficiency.flash import words
from llmviz.course.lessons.efficiency.flash.params import DRAWN, SIDE
from llmviz.course.lessons.efficiency.flash.questions import rescale_question
from llmviz.course.lessons.efficiency.flash.tiles_on_text import (
    TiledText,
    count_rescalings,
    require_softmax_after_mask,
    tiles_on_text,
)
from llmviz.course.ui import engine, kit
from llmviz.models.gpt import GPT
from llmviz.models.transformers import require_transformer
from llmviz.nn.attention.tiled import tile_steps

KEY = "efficiency.flash"


def draw(state: kit.PageState) -> TiledText | None:
    """Show the choice of a text, a head and a tile, and the film; return what was computed."""
    kit.text_box(state, height=80)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = kit.Picker("flashmodel").choose(state)
        model_and_text = kit.load_and_read(state, name, DRAWN, _require)
        place = None if model_and_text is None else _choose_head(state, *model_and_text)
    if place is None:
        return None
    bundled, read = model_and_text
    tiles = tiles_of(bundled, read.ids, *place, state["tile"])
    shown = kit.predict(rescale_question(tiles, read.tokens), f"{KEY}.rescale", covers=True)
    if shown:
        why = ""
        if state["flashlayer"] < 0 and state["flashhead"] < 0:
            why = why_first(rescalings(bundled, read.ids), place)
        kit.prose(f"{why} {words.keys}")
        _film(state, tiles, read)
    kit.prose(report(tiles))
    kit.head_link(words.whole_link, state["text"], bundled.name, *place)
    _code(bundled, read, state["tile"], place, tiles)
    return tiles


def _require(model: nn.Module) -> GPT:
    gpt = require_transformer(model)
    require_softmax_after_mask(gpt)
    return gpt


def _choose_head(state: kit.PageState, bundled: engine.Bundled, read: kit.Read) -> tuple[int, int]:
    """Show the choice of a layer, a head and a tile; return the layer and the head."""
    st.slider(words.tile, width=240, **state.ranged("tile"))
    counted = rescalings(bundled, read.ids)
    keys = ("flashlayer", "flashhead")
    for key, size in zip(keys, counted.shape, strict=True):
        if state[key] >= 0:
            kit.keep(state, key, range(size))
    fits = np.full(counted.shape, -1)
    chosen = tuple(slice(None) if state[key] < 0 else state[key] for key in keys)
    fits[chosen] = counted[chosen]
    place = tuple(int(index) for index in np.unravel_index(int(fits.argmax()), fits.shape))
    labels = (words.layer, words.head)
    for key, label, size, now in zip(keys, labels, counted.shape, place, strict=True):
        slot = kit.tied(f"_{KEY}.{key}", now, state.taker(key))
        st.selectbox(label, range(size), width=90, **slot)
    return place


@kit.kept(64)
def rescalings(bundled: engine.Bundled, ids: tuple[int, ...]) -> np.ndarray:
    """Return how often larger maxima come in each head of a model on a text, (L, H)."""
    return count_rescalings(bundled.model, ids, SIDE)


def why_first(counted: np.ndarray, place: tuple[int, int]) -> str:
    """Return why a head is shown first; "" where no head has a larger maximum."""
    if not counted.any():
        return ""
    return words.why.format(layer=place[0], head=place[1], side=SIDE)


tiles_of = kit.kept(64)(kit.on_model(tiles_on_text))


def _film(state: kit.PageState, tiles: TiledText, read: kit.Read) -> None:
    tile_film(
        read.tokens,
        tiles,
        key=f"{KEY}.film",
        captions=captions(tiles, read.tokens),
        words=words.film,
        step=state["tilestep"],
        on_change=kit.bound(
            state, f"{KEY}.film", step=("tilestep", kit.one_of(range(len(tiles.tiles))))
        ),
    )


def captions(tiles: TiledText, names: Sequence[str]) -> list[str]:
    """Return a sentence for each tile."""
    lines = []
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
        lines.append(line.strip())
    return lines


def _span(names: Sequence[str], first: int, end: int, single: str, several: str) -> str:
    quoted = [f"“{names[place]}”" for place in (first, end - 1)]
    return (single if end - first == 1 else several).format(first=quoted[0], last=quoted[1])


def report(tiles: TiledText) -> str:
    """Return how far the output of the tiles is from that of the whole matrix."""
    size = float(np.abs(tiles.output).max(initial=0.0))
    line = words.exact
    if tiles.difference:
        line = words.equal.format(difference=kit.power_of_ten(tiles.difference), size=size)
    return f"{line} {words.one_tile}" if len(tiles.tiles) == 1 else line


def _code(
    bundled: engine.Bundled, read: kit.Read, side: int, head: tuple[int, int], tiles: TiledText
) -> None:
    # The last strip of rows: of its first row, the maximum and the sum after each tile.
    own = [n for n, tile in enumerate(tiles.tiles) if tile[0] == tiles.tiles[-1, 0]]
    layer, number = head
    kit.show_code(
        [tile_steps],
        words.snippet_film.format(
            name=bundled.name, ids=list(read.ids), layer=layer, number=number, side=side
        ),
        "\n".join([f"{tiles.maximum[n, 0]:.3f} {tiles.total[n, 0]:.3f}" for n in own] + ["True"]),
    )
