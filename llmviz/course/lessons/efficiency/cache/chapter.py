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
from llmviz.files.text import check_text
from llmviz.models.costs import BYTES
from llmviz.models.gpt import GPT
from llmviz.models.memory_limits import byte_unit, spoken_bytes
from llmviz.models.pass_work import KNOWN, CacheShape, PassWork, pass_work, shape_bytes, typed_shape
from llmviz.models.settings import GPTConfig
from llmviz.sampling.generation import can_cache

KEY = "efficiency.cache"
GUESS = f"{KEY}.bytes"
FLOAT = 4  # bytes of a number of the models here
LARGEST = "Llama 2 70B"
NEAR = 1.05  # times; what differs by less is called about the same
BEFORE, ANGLE = "before", "angle"  # keys that are not turned yet, and how far they turn


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the cache as it grows, and the guess how large it is; then what goes deeper."""
    kit.prose(words.hook)
    stage, below = kit.stage("cache"), st.container()
    with below:
        end = st.container()
        bundled, ids = chosen(state)
    guess, held = kit.Guess(GUESS, None), None
    if bundled and ids:
        with stage:
            held = contents_of(bundled, ids)
            guess = _stage(state, bundled, held)
        with end:
            if guess.open:
                kit.prose(words.caption, **counted(held, state["cachelength"]))
                kit.looks(state, words.looks, f"{KEY}.looks")
                kit.real_case("first", words.real)
        _inside(state, bundled, ids, held)
    _sizes(state)
    if bundled is not None:
        _work(state, bundled)
    kit.chapter_link("sampling", "loop", words.loop_link, ":material/sync:")
    if held is not None and guess.open:
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


@kit.cached(24)
def contents_of(bundled: engine.Bundled, ids: tuple[int, ...]) -> CacheContents:
    """Return what a model keeps of a text and of what it writes behind it."""
    return cache_contents(bundled.model, ids, WRITTEN)


def _stage(state: kit.PageState, bundled: engine.Bundled, contents: CacheContents) -> kit.Guess:
    """Draw the bytes of the text and of its notes, and the notes; return the guess about them."""
    layers, heads, total, _ = contents.keys.shape
    for name, most in (
        ("cachelayer", layers - 1),
        ("cachehead", heads - 1),
        ("cachelength", total),
    ):
        if state[name] > most:  # writing a value looks at every control
            state[name] = most
    length = state["cachelength"]
    read = contents.ids[len(bundled.tokenizer.start) : length]
    text = len(bundled.tokenizer.decode(read).encode()) or 1
    notes, large = held_by(contents, length), shape_bytes(KNOWN[LARGEST], 1, length, "bfloat16")
    guess = kit.Guess(GUESS, question(bundled.model.config, contents, length, text))
    cases = [
        kit.Case(words.sizes_of["text"], text, role="value"),
        kit.Case(words.sizes_of["notes"], notes),
        kit.Case(words.sizes_of["large"], large if guess.open else None, note="?" * guess.asks),
    ]
    axis = kit.Axis(1, 1e9, words.guess_axis, log=True)
    guess.cases(cases, axis, veiled=[1], picture=f"{KEY}.guess", form="count")
    guess.ask()
    st.slider(words.length, **state.ranged("cachelength", most=max(2, total)))
    _grid(state, bundled, contents)
    return guess


def held_by(contents: CacheContents, length: int) -> int:
    """Return the bytes that the first tokens leave in the cache."""
    return contents.bytes * length // contents.keys.shape[2]


def question(
    config: GPTConfig, contents: CacheContents, length: int, text: int
) -> kit.Question | None:
    """Ask for the bytes of all notes; None where two answers are the same.

    The mistakes: the text itself is kept, a single list of numbers for each token, and a note for
    each two of them.
    """
    layers, heads, _, size = contents.keys.shape
    right, lists = held_by(contents, length), length * config.n_embd * FLOAT
    if len({text, lists, right}) < 3:
        return None
    reasons = {text: words.ask_text, right * length: words.ask_pairs, lists: words.ask_list}
    reasons[right] = words.ask_right
    return kit.Question.among(
        words.ask,
        reasons,
        right,
        spoken_bytes,
        tokens=kit.count(length, "token"),
        text=kit.count(text, "byte"),
        rows=layers * heads,
        numbers=2 * size,
        each=FLOAT,
    )


def _grid(state: kit.PageState, bundled: engine.Bundled, contents: CacheContents) -> None:
    layers, heads, total, size = contents.keys.shape
    length, key = state["cachelength"], f"{KEY}.grid"
    keys, values = (np.linalg.norm(part, axis=-1) for part in (contents.keys, contents.values))
    places = [(layer, head) for layer in range(layers) for head in range(heads)]

    def take() -> None:
        match st.session_state[key].get("chosen"):
            case [int(row), int(column)] if 0 <= row < len(places) and 0 <= column < total:
                state["cachelayer"], state["cachehead"] = places[row]
                state["cachelength"] = column + 1

    cell_grid(
        np.where(np.arange(total) < length, keys.reshape(-1, total), 0.0),
        key=key,
        row_names=[words.grid_row.format(layer=layer) for layer, _ in places],
        column_names=kit.names_of(contents.ids, bundled.tokenizer),
        notes=[
            [
                words.grid_note.format(key=keys[*at, t], value=values[*at, t], numbers=2 * size)
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


def counted(contents: CacheContents, length: int) -> dict[str, object]:
    """Return what the cache holds after so many tokens, and what a further one adds."""
    return {
        "tokens": kit.count(length, "token"),
        "bytes": spoken_bytes(held_by(contents, length)),
        "each": spoken_bytes(held_by(contents, 1)),
        "large": spoken_bytes(round(shape_bytes(KNOWN[LARGEST], 1, 1, "bfloat16"))),
    }


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
    kit.prose(words.cells_kept)
    kit.programmers(report(bundled.model, layer))
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


weights_of = kit.cached(32)(kit.on_model(head_weights))


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


def _sizes(state: kit.PageState) -> None:
    """Show what a typed shape takes beside known ones."""

    def take() -> None:
        for key, value in zip(words.sizes, KNOWN[state["cacheshape"]], strict=False):
            state[key] = value

    kit.section(words.bytes)
    given = (state["cachetexts"], state["cachetokens"], state["cachedtype"])
    shape = kit.or_refused(lambda: typed_shape(*(state[key] for key in words.sizes)))
    if shape is not None:
        cases, unit = cases_of(shape, *given)
        axis = kit.Axis.over(cases, unit)
        kit.case_rows(cases, axis, key=f"{KEY}.kinds", form="figure")
        kit.prose(size_line(shape, *given))
    st.pills(words.shape, list(KNOWN), required=True, **state.bind("cacheshape", then=take))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.slider(words.tokens, width=300, **state.ranged("cachetokens"))
        st.slider(words.texts, width=300, **state.ranged("cachetexts"))
        kit.choose(state, "cachedtype", words.dtype, {name: name for name in BYTES})
        for key, label in words.sizes.items():
            st.number_input(label, width=150, **state.ranged(key))
    kit.measured(words.how_bytes)


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
    more = words.bytes_single if shape.heads == 1 else words.bytes_own
    if shape.heads > shape.kv_heads:
        more = words.bytes_shared.format(ratio=shape.heads // shape.kv_heads)
    return f"{line} {more}"


@kit.cached(12)
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
    kit.case_rows(rows, axis, key=f"{KEY}.intensity", form="figure")
    st.select_slider(words.batch, BATCHES, **slot)
    work = counted[1 + state["decodebatch"]]
    kit.prose(words.work_read)
    kit.show_code(
        [pass_work, PassWork],
        words.snippet_work.format(name=bundled.name, batch=batch, seen=seen),
        f"{work}\n{work.intensity:.3f}",
    )
    kit.section(words.roofline)
    kit.live(
        state,
        "roofline",
        roofline_of,
        (bundled,),
        lambda job: _measured(state, job, seen),
        start=words.start,
        share=lambda job: len(job.results) / ROUNDS,
        said=kit.JobWords(words.goes, words.stopped, words.again),
    )


def _measured(state: kit.PageState, job: kit.Job, prompt: int) -> None:
    if job.results:
        last, at = job.results[-1], state["decodebatch"]
        kit.chart(figure(last, at, kit.theme()), f"{KEY}.roofline")
        kit.prose(" ".join(roof_report(last, at)))
        rounds, tokens = kit.count(last.rounds, "round"), kit.count(prompt, "token")
        roof = {"large": spoken_bytes(LARGE), "peak": last.operations / 1e9}
        kit.measured(words.how_roof, rounds=rounds, prompt=tokens, **roof)


@kit.cached(64)
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
            speed=kit.percent(point.speed / roofline.operations),
            prefill=kit.percent(prefill.speed / roofline.operations),
        )
    ]
    if point.batch > 1:
        ratio = alone.seconds * point.batch / point.seconds
        kind = "faster" if ratio > NEAR else "slower" if ratio < 1 / NEAR else "same"
        many = kit.count(point.batch, "text")
        lines.append(words.at_once[kind].format(many=many, ratio=max(ratio, 1 / ratio)))
    return lines
