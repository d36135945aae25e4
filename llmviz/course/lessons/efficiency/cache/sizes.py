"""Bytes of the cache for known shapes and typed ones, with fewer heads of keys and values."""

import streamlit as st

from llmviz.course.figures.losses import compared
from llmviz.course.lessons.efficiency.cache import words
from llmviz.course.lessons.efficiency.cache.contents import KEY
from llmviz.course.ui import engine, kit
from llmviz.models.arithmetic import BYTES
from llmviz.models.cache_shapes import KNOWN, CacheShape, shape_bytes, typed_shape
from llmviz.models.room import byte_unit, spoken_bytes

SIZE_WIDTH, SLIDER_WIDTH = 150, 300  # pixels


def draw(state: kit.PageState) -> None:
    """Show the controls, what a shape takes, and the table of known shapes."""
    kit.section(words.bytes)

    def take() -> None:
        for key, value in zip(words.sizes, KNOWN[state["cacheshape"]], strict=False):
            state[key] = value

    st.pills(words.shape, list(KNOWN), required=True, **state.bind("cacheshape", then=take))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        for key, label in words.sizes.items():
            st.number_input(label, width=SIZE_WIDTH, **state.ranged(key))
        kit.choose(state, "cachedtype", words.dtype, {name: name for name in BYTES})
        st.slider(words.tokens, width=SLIDER_WIDTH, **state.ranged("cachetokens"))
        st.slider(words.texts, width=SLIDER_WIDTH, **state.ranged("cachetexts"))
    given = (state["cachetexts"], state["cachetokens"], state["cachedtype"])
    try:
        shape = typed_shape(*(state[key] for key in words.sizes))
    except ValueError as rule:
        kit.refuse(rule)
        shown = True
    else:
        shown = kit.predict(question(shape, given[2]), f"{KEY}.bytes", covers=True)
        if shown:
            kit.chart(bars(shape, *given, kit.theme()), f"{KEY}.kinds")
            kit.prose(report(shape, *given))
        _code(shape, *given)
    if not shown:
        return
    st.markdown(f"**{words.table_title}**")
    kit.rows_table(
        table(*given),
        words.table_columns,
        column_config=kit.grouped(words.table_columns[1:6]),
        height="content",
    )
    st.caption(words.table_note)


@kit.kept(64)
def bars(shape: CacheShape, texts: int, tokens: int, dtype: str, mode: kit.Mode) -> kit.Figure:
    """Return the bytes with many, the shape's own and one head of keys and values."""
    heads = {"multi": shape.heads, "own": shape.kv_heads, "one": 1}
    values = [shape_bytes(shape, texts, tokens, dtype, n) for n in heads.values()]
    size, unit = byte_unit(max(values))
    names = [words.kinds[kind].format(heads=kit.count(n, "head")) for kind, n in heads.items()]
    axis = words.kinds_axis.format(unit=unit)
    return compared(names, [value / size for value in values], 1, axis, mode, digits=2)


def report(shape: CacheShape, texts: int, tokens: int, dtype: str) -> str:
    """Return what a shape's cache takes, in a sentence."""
    same = shape.heads == shape.kv_heads
    return (words.bytes_read_same if same else words.bytes_read).format(
        layers=kit.count(shape.layers, "layer"),
        kv_heads=kit.count(shape.kv_heads, "head"),
        size=shape.head_size,
        head_size=kit.count(shape.head_size, "number"),
        n_layer=shape.layers,
        n_kv=shape.kv_heads,
        numbers=shape.numbers(),
        each=spoken_bytes(round(shape_bytes(shape, 1, 1, dtype))),
        dtype=dtype,
        texts=kit.count(texts, "text"),
        tokens=kit.count(tokens, "token"),
        total=spoken_bytes(round(shape_bytes(shape, texts, tokens, dtype))),
        ratio=shape.heads // shape.kv_heads,
    )


def own_shapes() -> dict[str, CacheShape]:
    """Return the shapes of the bundled models that continue a text."""
    return {name: _own_shape(engine.load(name)) for name in kit.bundled_models()}


@kit.kept(32)
def _own_shape(bundled: engine.Bundled) -> CacheShape:
    config = bundled.model.config
    return CacheShape(
        config.n_layer, config.n_head, config.kv_heads, config.head_size, words.bundled
    )


def table(texts: int, tokens: int, dtype: str) -> list[tuple]:
    """Return a row for each known shape and each bundled model."""
    return [
        (
            name,
            *shape[:4],
            round(shape_bytes(shape, 1, 1, dtype)),
            spoken_bytes(round(shape_bytes(shape, texts, tokens, dtype))),
            shape.source,
        )
        for name, shape in (KNOWN | own_shapes()).items()
    ]


def question(shape: CacheShape, dtype: str) -> kit.Question:
    """Ask for the bytes of a token; of equal mistakes one is offered, none that is right."""
    layers, heads, kv_heads, size, _ = shape
    width = BYTES[dtype]
    line = {"layers": layers, "kv_heads": kv_heads, "size": size, "width": width}
    line |= {
        "n_layer": kit.count(layers, "layer"),
        "n_head": kit.count(heads, "head"),
        "n_kv": kit.count(kv_heads, "head"),
        "head_size": kit.count(size, "number"),
        "each": f"{width:g} byte" if width == 1 else f"{width:g} bytes",
    }
    right = shape.numbers() * width
    wrong = {
        "queries": shape.numbers(heads) * width,
        "keys": right / 2,
        "layer": right / layers,
        "one": shape.numbers(1) * width,
        "numbers": float(shape.numbers()),
        "double": 2 * right,
    }
    offered = {right: words.ask_right}
    for name, number in wrong.items():
        offered.setdefault(number, words.ask_wrong[name])
    return kit.Question.among(
        words.ask, offered, right, written, dtype=dtype, right=written(right), **line
    )


def written(number: float) -> str:
    """Return a number of bytes; of an int4 it may be a half.

    >>> written(4096.0), written(0.5)
    ('4,096', '0.5')
    """
    return f"{int(number):,}" if number == int(number) else f"{number:,}"


def _code(shape: CacheShape, texts: int, tokens: int, dtype: str) -> None:
    kit.show_code(
        [typed_shape, shape_bytes],
        words.snippet_sizes.format(shape=tuple(shape[:4]), texts=texts, tokens=tokens, dtype=dtype),
        f"{shape.numbers()} {shape_bytes(shape, texts, tokens, dtype)}",
    )
