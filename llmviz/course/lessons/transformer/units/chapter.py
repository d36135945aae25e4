"""Chapter "Units": which never fire on a corpus, which texts drive one, what it writes.

L layers, F hidden width, K texts that are shown.
"""

import math
from collections.abc import Iterator

import numpy as np
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.figures.activations import curve_on_values
from llmviz.course.figures.units import signed_bars
from llmviz.course.lessons.transformer import words as subject_words
from llmviz.course.lessons.transformer.subject import ALSO
from llmviz.course.lessons.transformer.units import words
from llmviz.course.lessons.transformer.units.bends import activation_curve, gelu_gap, slopes
from llmviz.course.lessons.transformer.units.model import GrowingSearch
from llmviz.course.ui import engine, kit
from llmviz.interpretability.block import all_blocks, require_block
from llmviz.interpretability.unit_corpus import CorpusSearch, corpus_of
from llmviz.interpretability.units import UnitWrites, search_units, unit_values, unit_writes
from llmviz.tokenizers import Token
from llmviz.training.config import OWN_TEXT

KEY = "transformer.units"
FLAT = 0.1  # a derivative smaller than this teaches next to nothing
THROUGH = (2.0, -1.0)  # what a gate lets through, besides 1
TEXTS = 5  # that are shown of a unit
LISTED = 8  # tokens that a unit raises, and as many that it lowers
OFFERED = 8  # units that are named as a choice
SLICE = 0.04  # seconds of work by which a search grows in one rerun
POLL = 0.1  # seconds between two reruns while it grows


def ahead() -> Iterator[None]:
    """Search the units of the model that the chapter opens with."""
    names = kit.bundled_models()
    if names:
        while not growing(engine.load(names[0])).grow(SLICE):
            yield
        growing(engine.load(names[0])).whole()


@kit.kept(8)
def growing(bundled: engine.Bundled) -> GrowingSearch:
    """Return the search of all units of a model as far as it is, the same for all visitors.

    Raises ValueError: its own text cannot be read any more.
    """
    corpus = corpus_of(str(bundled.card.get("corpus")), engine.folder_of(bundled.name) / OWN_TEXT)
    return GrowingSearch(bundled.model, bundled.tokenizer, corpus)


def searched(bundled: engine.Bundled) -> CorpusSearch:
    """Return what all units of a model do on its corpus; about a second and a half, once."""
    grown = growing(bundled)
    grown.grow(math.inf)
    return grown.whole()


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    head = st.container()
    bundled = kit.load(kit.Picker(also=ALSO).choose(state))
    if bundled is None:
        return
    try:
        require_block(bundled.model)
    except ValueError as error:
        head.header(words.intro.title, anchor=False)
        kit.refuse(error)
        kit.inform(subject_words.subject_cannot, ":material/info:")
        return
    try:
        grown = growing(bundled)
    except ValueError as error:
        head.header(words.intro.title, anchor=False)
        kit.refuse(error)
        return
    with head:
        own = bundled.card.get("corpus") == OWN_TEXT
        corpus = words.your_text if own else grown.corpus
        text = words.text.format(
            units=kit.count(
                bundled.model.config.feed_forward_size, words.unit_one, words.unit_many
            ),
            pieces=kit.count(len(grown.pieces), "piece"),
            corpus=corpus,
            tokens=kit.count(grown.tokens, "token"),
        )
        kit.section(words.intro.title, text)
    # A new search is too much for one rerun: it grows by some batches at a time.
    live = not grown.grow(0.0)
    st.fragment(_searched, run_every=POLL if live else None)(state, bundled, live)


def _searched(state: kit.PageState, bundled: engine.Bundled, live: bool) -> None:
    """Show what the units did once all is read, and until then how far the reading is."""
    grown = growing(bundled)
    if not grown.grow(SLICE):
        line = words.wait.format(known=grown.known, tokens=grown.tokens)
        st.progress(grown.known / grown.tokens, line)
        return
    if live:
        kit.run_again()  # which ends the looking
    corpus_search = grown.whole()
    tokens = corpus_search.search.tokens
    layers, units = corpus_search.search.fired.shape
    layer = state["unitlayer"] if 0 <= state["unitlayer"] < layers else layers // 2
    dead = corpus_search.search.dead.sum(-1).tolist()
    middle = layers // 2  # always of one layer: a click in the grid must not cover it anew
    question = dead_question(dead[middle], units, middle, tokens)
    counts = {"dead": sum(dead), "all": layers * units, "tokens": tokens}
    shown = kit.predict(question, f"{KEY}.dead", covers=True)
    if shown:
        activation = bundled.model.config.activation
        kit.section(words.grid, silent=words.silent[activation])
        _grid(state, corpus_search, layer)
        gated = f" {words.gated}" if activation == "swiglu" else ""
        kit.prose(words.grid_read.format(**counts) + gated)
    cut = words.cut if len(grown.pieces) <= grown.documents else words.pieces
    st.caption(cut.format(longest=grown.longest))
    unit = _choice(state, corpus_search, layer)
    _opened(bundled, corpus_search, layer, unit)
    _bend(state, bundled, peak(corpus_search, layer, unit)[0], layer)
    if shown:
        kit.seen(words.end, unit=end_unit(bundled, corpus_search, layer, unit), **counts)


def end_unit(bundled: engine.Bundled, corpus_search: CorpusSearch, layer: int, unit: int) -> str:
    """Return what the end says of the unit that is open."""
    share = float(corpus_search.search.fired[layer, unit])
    text, place = peak(corpus_search, layer, unit)
    line = words.end_unit if share > 0 else words.end_unit_dead
    token = kit.spoken(text[place], bundled.tokenizer)
    return line.format(unit=unit, layer=layer, share=kit.percent(share), token=token)


def dead_question(count: int, units: int, layer: int, tokens: int) -> kit.Question:
    """Return how many of a layer's units never fire, as a question."""
    right = int(np.searchsorted([1, 11, 101], count, side="right"))
    slots = {"count": count, "all": units, "layer": layer, "tokens": tokens}
    return kit.Question.rated(words.dead_ask, words.dead_answers, right, words.dead_reason, **slots)


def _grid(state: kit.PageState, corpus_search: CorpusSearch, layer: int) -> None:
    groups, key = corpus_search.groups(), f"{KEY}.grid"
    layers, units = corpus_search.search.fired.shape

    def opened() -> None:
        cell = st.session_state[key].get("chosen")
        if cell is not None:
            state["unitlayer"] = cell[0]
            best = corpus_search.strongest(*cell)
            state["unit"] = -1 if best is None else best

    rows = groups.tolist()
    cell_grid(
        groups.astype(np.float32),
        key=key,
        row_names=[words.row.format(layer=layer) for layer in range(layers)],
        column_names=words.groups,
        texts=[[f"{count:,}" for count in row] for row in rows],
        notes=[[words.note.format(count=count, all=units) for count in row] for row in rows],
        role="value",
        limit=float(units),
        scale=("0", f"{units:,}"),
        label=words.grid_label,
        chosen=(
            layer,
            int(corpus_search.group_of()[layer, chosen_unit(state, corpus_search, layer)]),
        ),
        on_change=opened,
    )


def chosen_unit(state: kit.PageState, corpus_search: CorpusSearch, layer: int) -> int:
    """Return the unit of the link; without one, that which fires seldom and strongest."""
    there = 0 <= state["unit"] < corpus_search.search.fired.shape[1]
    return state["unit"] if there else corpus_search.telling(layer, 1)[0]


def _choice(state: kit.PageState, corpus_search: CorpusSearch, layer: int) -> int:
    """Show the choice of a unit; return it."""
    layers, units = corpus_search.search.fired.shape
    unit = chosen_unit(state, corpus_search, layer)
    take = state.taker("unit")

    def go(value: int | None) -> None:
        if value is not None:
            state["unitlayer"], state["unit"] = value, -1

    best = corpus_search.telling(layer, OFFERED)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        if layers > 1:
            slot = kit.tied(f"_{KEY}.layer", layer, go)
            st.number_input(words.layer, min_value=0, max_value=layers - 1, width=120, **slot)
        slot = kit.tied(f"_{KEY}.unit", unit, take)
        st.number_input(words.unit, min_value=0, max_value=units - 1, width=140, **slot)
        chosen = unit if unit in best else None
        st.pills(words.strongest, best, **kit.tied(f"_{KEY}.best", chosen, take))
    return unit


@kit.kept(128)
def values_on(bundled: engine.Bundled, text: tuple[int, ...], layer: int) -> np.ndarray:
    """Return the values of all units of a layer on a text, (T, F)."""
    return unit_values(bundled.model, text, layer).numpy()


@kit.kept(128)
def writes(bundled: engine.Bundled, layer: int, unit: int) -> UnitWrites:
    """Return what a unit writes into the prediction at the token where its value is highest."""
    text, place = peak(searched(bundled), layer, unit)
    return unit_writes(bundled.model, layer, unit, text, place, LISTED)


def peak(corpus_search: CorpusSearch, layer: int, unit: int) -> tuple[tuple[int, ...], int]:
    """Return the text in which a unit's value is highest, and the token's place in it."""
    search = corpus_search.search
    place = int(search.places[layer, unit, 0])
    return corpus_search.texts[int(search.texts[layer, unit, 0])], place


@kit.kept(64)
def writes_bars(bundled: engine.Bundled, layer: int, unit: int, mode: kit.Mode) -> kit.Figure:
    """Return the tokens that a unit raises and lowers most, as bars."""
    writing = writes(bundled, layer, unit)
    ids = [*writing.more.tolist(), *reversed(writing.less.tolist())]
    values = [*writing.raised.tolist(), *reversed(writing.lowered.tolist())]
    names = [kit.escape_plotly(token) for token in kit.names_of(ids, bundled.tokenizer)]
    return signed_bars(names, values, words.writes_axis, mode)


def _opened(bundled: engine.Bundled, corpus_search: CorpusSearch, layer: int, unit: int) -> None:
    search, tokenizer = corpus_search.search, bundled.tokenizer
    share = float(search.fired[layer, unit])
    kit.section(words.unit_section, unit=unit, layer=layer)
    numbers = search.texts[layer, unit, :TEXTS].tolist()
    top = float(search.highest[layer, unit, 0])
    text, place = peak(corpus_search, layer, unit)
    line = words.unit_read if share > 0 else words.unit_dead
    token = kit.spoken(text[place], tokenizer)
    kit.prose(line.format(share=kit.percent(share), value=top, token=token).replace(" -", " −"))
    rows = [
        _row(bundled, corpus_search.texts[number], layer, unit) for number in dict.fromkeys(numbers)
    ]
    token_strip(
        rows,
        key=f"{KEY}.texts",
        show_ids=False,
        value_label=words.value,
        value_range=(0.0, max(top, 1e-3)),
    )
    _writes(bundled, layer, unit, top, token)
    _code(bundled, corpus_search, layer, unit)


def _row(bundled: engine.Bundled, text: tuple[int, ...], layer: int, unit: int) -> TokenRow:
    values = values_on(bundled, text, layer)[:, unit].tolist()
    tokens, at = [], 0
    for token, token_name in zip(text, kit.names_of(text, bundled.tokenizer), strict=True):
        special = token in bundled.tokenizer.special_tokens.values()
        data = token_name.encode() if special else bundled.tokenizer.token_bytes(token)
        tokens.append(Token(token, data, at, at + len(data), at, at + len(data)))
        at += len(data)
    details = [{words.value: kit.signed(value)} for value in values]
    name = words.row_name.format(value=max(values)).replace("-", "−")
    return TokenRow(name, tokens, values=values, details=details)


def _writes(bundled: engine.Bundled, layer: int, unit: int, top: float, token: str) -> None:
    writing = writes(bundled, layer, unit)
    text = words.writes_text[bundled.model.config.norm]
    kit.section(words.writes.title, text.format(token=token, divisor=writing.divisor))
    kit.chart(writes_bars(bundled, layer, unit, kit.theme()), f"{KEY}.writes")
    tokenizer, raised = bundled.tokenizer, float(writing.raised[0])
    kit.prose(
        words.writes_read.format(
            more=kit.spoken(int(writing.more[0]), tokenizer),
            raised=f"{raised:.4f}",
            less=kit.spoken(int(writing.less[0]), tokenizer),
            lowered=f"{float(writing.lowered[0]):.4f}",
            value=top,
            times=kit.signed(top * raised),
        )
        .replace(" -", " −")
        .replace("(-", "(−")
    )


@kit.kept(32)
def before_bend(bundled: engine.Bundled, text: tuple[int, ...], layer: int) -> np.ndarray:
    """Return all numbers of a text before the activation function of a layer, (T·F,)."""
    return all_blocks(bundled.model, text)[layer]["mlp.hidden"].flatten().numpy().copy()


@kit.kept(32)
def bend_lines(
    bundled: engine.Bundled, text: tuple[int, ...], layer: int, function: str, mode: kit.Mode
) -> kit.Figure:
    """Return a function and its derivative over a text's numbers."""
    curve = activation_curve(function)
    lines, names = [curve.y, curve.slope], [words.bends[function], words.derivative]
    if function == "swiglu":
        names[0] = words.through.format(u=1)
        lines += [activation_curve(function, u).y for u in THROUGH]
        names += [words.through.format(u=u).replace("-", "−") for u in THROUGH]
    values = before_bend(bundled, text, layer)
    return curve_on_values(curve.x, lines, names, values, words.counted, words.bend_axis, mode)


def _bend(state: kit.PageState, bundled: engine.Bundled, text: tuple[int, ...], layer: int) -> None:
    """Show the curve that decides how much of each number goes on."""
    own = bundled.model.config.activation
    function = own if state["bend"] == "own" else state["bend"]
    kit.section(words.bend)
    kit.choose(state, "bend", words.bend_label, words.bends)
    kit.plot(f"{KEY}.bend", bend_lines, bundled, text, layer, function)
    values = before_bend(bundled, text, layer)
    lines = [words.formula[function], words.bend_read]
    if function.startswith("gelu"):
        lines.append(words.gap)
    at, gap = gelu_gap()
    kit.prose(
        " ".join(lines),
        own=words.bends[own],
        count=len(values),
        below=kit.percent(float((values <= 0).mean())),
        flat=kit.percent(float((np.abs(slopes(function, values)) < FLAT).mean())),
        at=at,
        gap=gap,
    )


def _code(bundled: engine.Bundled, corpus_search: CorpusSearch, layer: int, unit: int) -> None:
    text, place = peak(corpus_search, layer, unit)
    values = values_on(bundled, text, layer)[:, unit]
    writing = writes(bundled, layer, unit)
    kit.show_code(
        [search_units, unit_writes],
        words.snippet.format(
            name=bundled.name, text=list(text), layer=layer, unit=unit, place=place
        ),
        f"{values.max():.2f} at token {values.argmax()}\n{writing.more[:3].tolist()}",
    )
