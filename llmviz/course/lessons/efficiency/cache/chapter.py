"""Chapter "The cache": it grows with the text, takes room, and makes writing wait for reading."""

import numpy as np
import streamlit as st

from llmviz.course import components as lv
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.figures.roofline import Mark, Roof, roofline_figure
from llmviz.course.lessons.efficiency.cache import READ, WRITTEN, words
from llmviz.course.lessons.efficiency.cache.model import (
    BATCHES,
    DECODE,
    LARGE,
    PREFILL,
    ROUNDS,
    CacheContents,
    Roofline,
    cache_contents,
    passes,
    works,
)
from llmviz.course.ui import engine, kit
from llmviz.models.costs import BYTES
from llmviz.models.gpt import GPT
from llmviz.models.pass_work import KNOWN, CacheShape, PassWork, pass_work, shape_bytes, typed_shape
from llmviz.models.room import byte_unit, spoken_bytes
from llmviz.sampling.generation import can_cache
from llmviz.textfile import check_text

KEY = "efficiency.cache"
GUESS = f"{KEY}.bytes"
FLOAT = 4  # bytes of a number of the models here
WRITTEN_BYTES = "{:,.30g}".format  # of an int4 they may be a half
NEAR = 1.05  # times; what differs by less is called about the same
BEFORE, ANGLE = "before", "angle"  # keys that are not turned yet, and how far they turn


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the cache as it grows, and the guess what it takes elsewhere; then what goes deeper."""
    kit.prose(words.hook)
    stage, quiz, below = kit.stage("cache", stays=False), st.container(), st.container()
    with below:
        bundled, ids = chosen(state)
    with stage:
        held = _grid(state, bundled, ids) if bundled and ids else None
    with quiz:
        shown = guess_size(state, bundled if held else None).ask()
    if bundled and held:
        if shown:
            kit.looks(state, words.looks, f"{KEY}.looks")
        _inside(state, bundled, ids, held)
    _sizes(state, shown=shown)
    if bundled is not None:
        _work(state, bundled)
    kit.chapter_link("sampling", "loop", words.loop_link, ":material/sync:")
    if held is not None and shown:
        kit.seen(words.end, **counted(held, state["cachelength"]))


def chosen(state: kit.PageState) -> tuple[engine.Bundled | None, tuple[int, ...]]:
    """Show the choice of model and text; return the model, and the ids that it reads, if any."""
    bundled = kit.load(kit.Picker("cachemodel").choose(state))
    if bundled is None:
        return None, ()
    if not can_cache(bundled.model):
        kit.inform(words.no_cache, ":material/visibility:")
        return None, ()
    kit.text_area(state, "cachetext", words.model_text, height=80)
    text = kit.or_refused(check_text, state["cachetext"])
    if text == "":
        st.info(words.empty, icon=":material/edit:")
    return bundled, kit.read(text, bundled, READ).ids if text else ()


@kit.kept(24)
def contents_of(bundled: engine.Bundled, ids: tuple[int, ...]) -> CacheContents:
    """Return what a model keeps of a text and of what it writes behind it."""
    return cache_contents(bundled.model, ids, WRITTEN)


def _grid(state: kit.PageState, bundled: engine.Bundled, ids: tuple[int, ...]) -> CacheContents:
    """Draw the cache and say what is in it; return all that it comes to hold."""
    contents = contents_of(bundled, ids)
    layers, heads, total, size = contents.keys.shape
    for name, most in (
        ("cachelayer", layers - 1),
        ("cachehead", heads - 1),
        ("cachelength", total),
    ):
        if state[name] > most:  # writing a value looks at every control
            state[name] = most
    length, key = state["cachelength"], f"{KEY}.grid"
    keys, values = (np.linalg.norm(part, axis=-1) for part in (contents.keys, contents.values))
    places = [(layer, head) for layer in range(layers) for head in range(heads)]
    cost = {"numbers": 2 * size, "bytes": 2 * size * FLOAT}

    def take() -> None:
        match st.session_state[key].get("chosen"):
            case [int(row), int(column)] if 0 <= row < len(places) and 0 <= column < total:
                state["cachelayer"], state["cachehead"] = places[row]
                state["cachelength"] = column + 1

    cell_grid(
        np.where(np.arange(total) < length, keys.reshape(-1, total), 0.0),
        key=key,
        row_names=[words.grid_row.format(layer=layer, head=head) for layer, head in places],
        column_names=kit.names_of(contents.ids, bundled.tokenizer),
        notes=[
            [
                words.grid_note.format(key=keys[*at, t], value=values[*at, t], **cost)
                if t < length
                else words.not_yet
                for t in range(total)
            ]
            for at in places
        ],
        starts=[heads * layer for layer in range(1, layers)],
        role="key",
        limit=float(keys.max()) or 1.0,
        scale=words.grid_scale,
        label=words.grid,
        chosen=(state["cachelayer"] * heads + state["cachehead"], length - 1),
        on_change=take,
    )
    st.slider(words.length, **state.ranged("cachelength", most=max(2, total)))
    kit.prose(words.caption, layers=layers, heads=heads, **counted(contents, length))
    return contents


def counted(contents: CacheContents, length: int) -> dict[str, object]:
    """Return what the cache holds after so many tokens, and what a further one adds."""
    total = contents.keys.shape[2]
    return {
        "tokens": kit.count(min(length, total), "token"),
        "bytes": contents.bytes * min(length, total) // total,
        "each": contents.bytes // total,
    }


def guess_size(state: kit.PageState, bundled: engine.Bundled | None) -> kit.Guess:
    """Draw what a token leaves in this model, and let the hand set what it leaves in another.

    Returns the guess; without a question where the other's typed shape cannot be.
    """
    try:
        shape = typed_shape(*(state[key] for key in words.sizes))
    except ValueError:
        return kit.Guess(GUESS, None)  # refused where it is typed
    guess = kit.Guess(GUESS, question(shape, state["cachedtype"]))
    known = KNOWN[state["cacheshape"]][:4] == shape[:4]
    name = state["cacheshape"] if known else words.other_model
    cases = [kit.Case(name, guess.right[0])]
    if bundled is not None:
        config = bundled.model.config
        own = CacheShape(config.n_layer, config.n_head, config.kv_heads, config.head_size)
        cases.insert(0, kit.Case(bundled.name, own.numbers() * FLOAT))
    numbers = [value for (value,) in guess.question.values] + [case.value or 1 for case in cases]
    guess.cases(
        cases,
        kit.Axis(min(numbers) / 4, max(numbers) * 4, words.guess_axis, log=True),
        veiled=[len(cases) - 1],
        picture=f"{KEY}.guess",
        form="count",
        mark="dot",
    )
    return guess


def question(shape: CacheShape, dtype: str) -> kit.Question:
    """Ask for the bytes of a token; of equal mistakes one is offered, none that is right.

    The mistakes: a key and a value for each head of queries, keys alone, and one layer alone.
    """
    layers, heads, kv_heads, size, _ = shape
    width, right = BYTES[dtype], shape.numbers() * BYTES[dtype]
    offered = {right: words.ask_right}
    wrong = {"queries": shape.numbers(heads) * width, "keys": right / 2, "layer": right / layers}
    for name, number in wrong.items():
        offered.setdefault(number, words.ask_wrong[name])
    return kit.Question.among(
        words.ask,
        offered,
        right,
        WRITTEN_BYTES,
        dtype=dtype,
        right=WRITTEN_BYTES(right),
        layers=layers,
        kv_heads=kv_heads,
        size=size,
        width=width,
        n_layer=kit.count(layers, "layer"),
        n_head=kit.count(heads, "head"),
        n_kv=kit.count(kv_heads, "head"),
        head_size=kit.count(size, "number"),
        each=f"{width:g} byte" if width == 1 else f"{width:g} bytes",
    )


def _inside(
    state: kit.PageState, bundled: engine.Bundled, ids: tuple[int, ...], contents: CacheContents
) -> None:
    """Show the keys and values of the head that was clicked, and where their numbers come from."""
    kit.section(words.inside)
    layer, head, length = state["cachelayer"], state["cachehead"], state["cachelength"]
    key, size = f"{KEY}.matrices", contents.keys.shape[-1]
    tokens = kit.names_of(contents.ids, bundled.tokenizer)
    weights = weights_of(bundled, layer, head)
    lv.matrix_view(
        matrices(bundled.model, contents, weights, tokens, layer, head, length),
        key=key,
        layout=[["keys"], ["values"]],
        stacked=True,
        pinned=lv.cell_of(state["cachecell"], dict.fromkeys(("keys", "values"), (length, size))),
        weights=[weights],
        on_change=kit.bound(state, key, pinned=("cachecell", kit.link_of)),
    )
    kit.prose(report(bundled.model, layer))
    kit.show_code(
        [cache_contents],
        words.snippet_contents.format(name=bundled.name, ids=list(ids), written=WRITTEN),
        f"{contents.keys.shape} {contents.bytes}",
    )


def head_weights(model: GPT, layer: int, head: int) -> lv.Weights:
    """Take W_K and W_V (C, D) of a head of keys and values, and the biases (1, D) if there are any.

    layer, head: from 0.
    """
    attn = model.blocks[layer].attn
    _, keys, values = attn.projections(head * (attn.n_head // attn.n_kv_head))
    arrays = {"W_K": keys.detach().numpy(), "W_V": values.detach().numpy()}
    if attn.qkv.bias is not None:
        size = model.config.head_size
        parts = attn.qkv.bias.detach()[model.config.n_embd :].view(2, attn.n_kv_head, size)
        arrays |= {"b_K": parts[0, head][None].numpy(), "b_V": parts[1, head][None].numpy()}
    return lv.Weights.of(arrays)


weights_of = kit.kept(32)(kit.on_model(head_weights))


def matrices(
    model: GPT,
    contents: CacheContents,
    weights: lv.Weights,
    tokens: list[str],
    layer: int,
    head: int,
    length: int,
) -> list[lv.Matrix]:
    """Return the first `length` keys and values of a head, and what their sums are made of.

    weights: of the head; tokens: names of the text's tokens.
    """
    x, parts = contents.inputs[layer, :length], weights.values
    biased = "b_K" in parts
    of_keys, of_values = (
        lv.matmul("x", f"W_{letter}", bias=f"b_{letter}" if biased else None) for letter in "KV"
    )
    linked = [lv.Matrix("x", x, row_labels=tokens[:length])]
    linked += [lv.Matrix(name, values) for name, values in parts.items()]
    rotary = model.blocks[layer].attn.rotary
    if rotary is not None:
        before = x @ parts["W_K"] + (parts["b_K"] if biased else 0)
        half = before.shape[1] // 2
        speeds = np.arctan2(*(table[1, :half].numpy() for table in (rotary.sin, rotary.cos)))
        angles = np.arange(length)[:, None] * speeds
        linked += [lv.Matrix(BEFORE, before, op=of_keys), lv.Matrix(ANGLE, angles)]
        of_keys = lv.turned(BEFORE, ANGLE)
    for name, values, op, role in (
        ("keys", contents.keys, of_keys, "key"),
        ("values", contents.values, of_values, "value"),
    ):
        linked.append(
            lv.Matrix(
                name,
                values[layer, head, :length],
                words.matrices[name].format(layer=layer, head=head),
                row_labels=tokens[:length],
                row_axis=words.token_axis,
                col_axis=words.number_axis,
                role=role,
                op=op,
            )
        )
    return linked


def report(model: GPT, layer: int) -> str:
    """Return what the cells of a layer's keys and values are made of, in sentences."""
    attn = model.blocks[layer].attn
    biased = attn.qkv.bias is not None
    line = words.cells.format(
        normed=words.cells_normed if model.config.norm == "pre" else "",
        width=model.config.n_embd,
        key_bias=words.cells_bias.format(letter="K") if biased else "",
        value_bias=words.cells_bias.format(letter="V") if biased else "",
    )
    return line if attn.rotary is None else f"{line} {words.cells_turned}"


def _sizes(state: kit.PageState, *, shown: bool) -> None:
    """Show what a typed shape takes beside known ones; shown: the question on it is answered."""

    def take() -> None:
        for key, value in zip(words.sizes, KNOWN[state["cacheshape"]], strict=False):
            state[key] = value

    kit.section(words.bytes)
    given = (state["cachetexts"], state["cachetokens"], state["cachedtype"])
    shape = kit.or_refused(lambda: typed_shape(*(state[key] for key in words.sizes)))
    if shape is not None and shown:
        cases, unit = cases_of(shape, *given)
        axis = kit.Axis(0, 1.1 * max(case.value or 0 for case in cases), unit)
        kit.case_rows(cases, axis, key=f"{KEY}.kinds", words={}, form="figure")
        kit.prose(size_line(shape, *given))
    st.pills(words.shape, list(KNOWN), required=True, **state.bind("cacheshape", then=take))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.slider(words.tokens, width=300, **state.ranged("cachetokens"))
        st.slider(words.texts, width=300, **state.ranged("cachetexts"))
        kit.choose(state, "cachedtype", words.dtype, {name: name for name in BYTES})
        for key, label in words.sizes.items():
            st.number_input(label, width=150, **state.ranged(key))
    st.caption(words.bytes_note)


def cases_of(shape: CacheShape, texts: int, tokens: int, dtype: str) -> tuple[list[kit.Case], str]:
    """Return the bytes with many, the shape's own and one head, then of known models; the unit."""
    heads = {"multi": shape.heads, "own": shape.kv_heads, "one": 1}
    rows = [
        (words.kinds[kind].format(heads=kit.count(n, "head")), shape, n, "key")
        for kind, n in heads.items()
    ]
    rows += [(name, known, known.kv_heads, "query") for name, known in KNOWN.items()]
    sizes = [shape_bytes(own, texts, tokens, dtype, n) for _, own, n, _ in rows]
    size, unit = byte_unit(max(sizes))
    return [
        kit.Case(name, held / size, note=spoken_bytes(round(held)), role=role)
        for (name, _, _, role), held in zip(rows, sizes, strict=True)
    ], unit


def size_line(shape: CacheShape, texts: int, tokens: int, dtype: str) -> str:
    """Return what a shape's cache takes, in a sentence."""
    line = words.bytes_read.format(
        each=spoken_bytes(round(shape_bytes(shape, 1, 1, dtype))),
        dtype=dtype,
        texts=kit.count(texts, "text"),
        tokens=kit.count(tokens, "token"),
        total=spoken_bytes(round(shape_bytes(shape, texts, tokens, dtype))),
    )
    shared = shape.heads > shape.kv_heads
    more = words.bytes_shared.format(ratio=shape.heads // shape.kv_heads)
    return f"{line} {more if shared else words.bytes_own}"


@kit.kept(12)
def roofline_of(bundled: engine.Bundled) -> kit.Job:
    """Return the measuring of this machine and a model, in a process of its own."""
    return kit.training_jobs().start(
        "llmviz.course.lessons.efficiency.cache.model:roofline", name=bundled.name
    )


def _work(state: kit.PageState, bundled: engine.Bundled) -> None:
    """Show what reading and writing compute for each byte, and the button that measures."""
    kit.section(words.work)
    config = bundled.model.config
    found = kit.or_refused(works, config)
    if found is None:
        return
    counted, seen = [work for _, _, work in found], passes(config.context_length)[0][2]
    batch = BATCHES[state["decodebatch"]]
    slot = kit.tied(
        f"_{KEY}.batch", batch, lambda n: state.__setitem__("decodebatch", BATCHES.index(n))
    )
    rows = [kit.Case(words.prefill_name.format(n=seen), counted[0].intensity, role="key")]
    for n, work in zip(BATCHES, counted[1:], strict=True):
        role = "value" if n == batch else "residual"
        name = words.decode_name.format(texts=kit.count(n, "text"))
        rows.append(kit.Case(name, work.intensity, role=role))
    axis = kit.Axis(0, 1.1 * max(work.intensity for work in counted), words.axes[0])
    kit.case_rows(rows, axis, key=f"{KEY}.intensity", words={}, form="figure")
    st.select_slider(words.batch, BATCHES, **slot)
    work = counted[1 + state["decodebatch"]]
    kit.prose(words.work_read)
    kit.show_code(
        [pass_work, PassWork],
        words.snippet_work.format(name=bundled.name, batch=batch, seen=seen),
        f"{work}\n{work.intensity:.3f}",
    )
    kit.section(words.roofline, large=spoken_bytes(LARGE))
    kit.live(
        state,
        "roofline",
        roofline_of,
        (bundled,),
        lambda job: _measured(state, job, seen),
        start=words.start,
        share=lambda job: len(job.results) / ROUNDS,
        said=kit.Said(words.goes, words.stopped, words.again),
    )


def _measured(state: kit.PageState, job: kit.Job, prompt: int) -> None:
    if job.results:
        last, at = job.results[-1], state["decodebatch"]
        kit.chart(figure(last, at, kit.theme()), f"{KEY}.roofline")
        kit.prose(" ".join(roof_report(last, at)))
        rounds, tokens = kit.count(last.rounds, "round"), kit.count(prompt, "token")
        st.caption(words.roof_note.format(rounds=rounds, prompt=tokens))


@kit.kept(64)
def figure(roofline: Roofline, chosen: int, mode: kit.Mode) -> kit.Figure:
    """Return the roofline with both phases; chosen: place of the batch that is drawn large."""
    marks = []
    for phase, place in ((PREFILL, None), (DECODE, chosen)):
        own = [point for point in roofline.points if point.phase == phase]
        labels = [words.mark_prefill if phase == PREFILL else str(point.batch) for point in own]
        across, up = [point.work.intensity for point in own], [point.speed for point in own]
        marks.append(Mark(words.marks[phase], across, up, labels, place))
    roofs = [Roof(words.roofs[0], roofline.near), Roof(words.roofs[1], roofline.far)]
    return roofline_figure(roofline.operations, roofs, marks, words.axes, mode)


def roof_report(roofline: Roofline, chosen: int) -> list[str]:
    """Return what was measured, in sentences; chosen: the place of a batch."""
    prefill, *decoded = roofline.points
    point, alone = decoded[chosen], decoded[0]
    lines = [
        words.point_read.format(
            texts=kit.count(point.batch, "text"),
            each=1000 * point.seconds / point.batch,
            speed=point.speed / 1e9,
            prefill=prefill.speed / 1e9,
            peak=roofline.operations / 1e9,
        )
    ]
    if point.batch > 1:
        ratio = alone.seconds * point.batch / point.seconds
        kind = "faster" if ratio > NEAR else "slower" if ratio < 1 / NEAR else "same"
        many = kit.count(point.batch, "text")
        lines.append(words.at_once[kind].format(many=many, ratio=max(ratio, 1 / ratio)))
    return lines
