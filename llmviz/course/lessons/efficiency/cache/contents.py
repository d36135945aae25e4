"""The cache of a bundled model on the learner's text, as it grows."""

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.efficiency.cache import cells, words
from llmviz.course.lessons.efficiency.cache.cache_contents import CacheContents, cache_contents
from llmviz.course.lessons.efficiency.cache.params import READ, WRITTEN
from llmviz.course.ui import engine, kit
from llmviz.sampling.generation import can_cache
from llmviz.textfile import check_text

KEY = "efficiency.cache"
FLOAT = 4  # bytes of a number


Shown = tuple[engine.Bundled | None, CacheContents | None]


def draw(state: kit.PageState) -> Shown:
    """Show the model, the text and the cache; return model and cache, None where there is none."""
    bundled = kit.load(kit.Picker("cachemodel").choose(state))
    if bundled is None:
        return None, None
    if not can_cache(bundled.model):
        kit.inform(words.no_cache, ":material/visibility:")
        return None, None
    kit.text_area(state, "cachetext", words.model_text, height=80)
    text = kit.or_refused(check_text, state["cachetext"])
    if text is None:
        return (bundled, None)
    if not text:
        st.info(words.empty, icon=":material/edit:")
        return bundled, None
    ids = kit.read(text, bundled, READ).ids
    contents = contents_of(bundled, ids)
    tokens = kit.names_of(contents.ids, bundled.tokenizer)
    layers, heads, total, _ = contents.keys.shape
    most = {"cachelayer": layers - 1, "cachehead": heads - 1}
    for key, value in most.items():
        if state[key] > value:  # writing a value looks at every control
            state[key] = value
    st.slider(words.length, **_length(state, total))
    length = min(state["cachelength"], total)
    _grid(state, bundled, ids, tokens, length)
    _matrices(state, bundled, ids, length)
    kit.show_code(
        [cache_contents],
        words.snippet_contents.format(name=bundled.name, ids=list(ids), written=WRITTEN),
        f"{contents.keys.shape} {contents.values.shape} {contents.bytes}\n"
        f"{contents.ids[contents.read :]}",
    )
    return bundled, contents


def _length(state: kit.PageState, total: int) -> dict:
    """The slider of the length; its end stands for all tokens there are."""
    if state["cachelength"] > total:
        state["cachelength"] = total
    return state.ranged("cachelength", most=max(2, total))


@kit.kept(24)
def contents_of(bundled: engine.Bundled, ids: tuple[int, ...]) -> CacheContents:
    """Return what a model keeps of a text and of what it writes behind it."""
    return cache_contents(bundled.model, ids, WRITTEN)


@kit.kept(64)
def grid_of(
    bundled: engine.Bundled, ids: tuple[int, ...], length: int
) -> tuple[np.ndarray, float, list[str], list[list[str]], list[int]]:
    """Return lengths of keys (L·G, T), the longest, names of rows, notes, where layers begin."""
    contents = contents_of(bundled, ids)
    keys, values = (np.linalg.norm(part, axis=-1) for part in (contents.keys, contents.values))
    layers, heads, total = keys.shape
    size = contents.keys.shape[-1]
    rows, notes = [], []
    for layer in range(layers):
        for head in range(heads):
            rows.append(words.grid_row.format(layer=layer, head=head))
            notes.append(
                [
                    words.grid_note.format(
                        key=keys[layer, head, t],
                        value=values[layer, head, t],
                        numbers=2 * size,
                        bytes=2 * size * FLOAT,
                    )
                    if t < length
                    else words.not_yet
                    for t in range(total)
                ]
            )
    lengths = keys.reshape(layers * heads, total).copy()
    lengths[:, length:] = 0.0
    limit = float(keys.max()) or 1.0
    return lengths, limit, rows, notes, [heads * layer for layer in range(1, layers)]


def _grid(
    state: kit.PageState,
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    tokens: list[str],
    length: int,
) -> None:
    contents = contents_of(bundled, ids)
    heads = contents.keys.shape[1]
    lengths, limit, rows, notes, starts = grid_of(bundled, ids, length)
    key = f"{KEY}.grid"

    def take() -> None:
        match st.session_state[key].get("chosen"):
            case [int(row), int(column)] if 0 <= row < len(rows) and 0 <= column < len(tokens):
                state["cachelayer"], state["cachehead"] = divmod(row, heads)

    cell_grid(
        lengths,
        key=key,
        row_names=rows,
        column_names=tokens,
        notes=notes,
        starts=starts,
        role="key",
        limit=limit,
        scale=words.grid_scale,
        label=words.grid,
        chosen=(state["cachelayer"] * heads + state["cachehead"], length - 1),
        on_change=take,
    )
    st.caption(as_markdown(words.grid_read.format(token=kit.quote(tokens[length - 1]))))


@kit.kept(32)
def matrices_of(
    bundled: engine.Bundled, ids: tuple[int, ...], layer: int, head: int, length: int
) -> list[lv.Matrix]:
    """Return the keys and values of a head of a model that read a text; see `cells.matrices`."""
    contents = contents_of(bundled, ids)
    weights = cells.weights_of(bundled, layer, head)
    tokens = kit.names_of(contents.ids, bundled.tokenizer)
    return cells.matrices(bundled.model, contents, weights, tokens, layer, head, length)


def _matrices(
    state: kit.PageState, bundled: engine.Bundled, ids: tuple[int, ...], length: int
) -> None:
    contents = contents_of(bundled, ids)
    layer, head = state["cachelayer"], state["cachehead"]
    weights = cells.weights_of(bundled, layer, head)
    matrices = matrices_of(bundled, ids, layer, head, length)
    size = contents.keys.shape[-1]
    shapes = dict.fromkeys(("keys", "values"), (length, size))
    key = f"{KEY}.matrices"
    lv.matrix_view(
        matrices,
        key=key,
        layout=[["keys"], ["values"]],
        stacked=True,
        pinned=lv.cell_of(state["cachecell"], shapes),
        weights=[weights],
        on_change=kit.bound(state, key, pinned=("cachecell", kit.link_of)),
    )
    kit.prose(f"{cells.report(bundled.model, layer)}\n\n{report(contents, length)}")


def report(contents: CacheContents, length: int) -> str:
    """Return the sentence about the cache after so many tokens."""
    layers, heads, total, size = contents.keys.shape
    written = max(0, length - contents.read)
    numbers = 2 * layers * heads * length * size
    return words.read.format(
        tokens=kit.count(length, "token"),
        written=(words.written if written == 1 else words.written_many).format(count=written),
        layers=layers,
        heads=heads,
        n=length,
        size=size,
        numbers=numbers,
        bytes=contents.bytes * length // total,
        each=contents.bytes // total,
    )


def end(contents: CacheContents, length: int) -> dict[str, object]:
    """Return the numbers that the chapter ends with, for so many tokens in the cache."""
    total = contents.keys.shape[2]
    return {
        "tokens": kit.count(min(length, total), "token"),
        "bytes": contents.bytes * min(length, total) // total,
        "each": contents.bytes // total,
    }
