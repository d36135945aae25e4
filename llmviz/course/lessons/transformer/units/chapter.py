"""Chapter "Units": the texts that wake one number of a layer, a guess at the next, what it writes.

L layers, F hidden width.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from llmviz.course.components import TokenRow, token_strip
from llmviz.course.figures.activations import curve_on_values, signed_bars
from llmviz.course.lessons.transformer.page import WITH_PARTS
from llmviz.course.lessons.transformer.units import words
from llmviz.course.lessons.transformer.units.model import AT_ONCE, GrowingSearch
from llmviz.course.ui import engine, kit
from llmviz.interpretability.block import all_blocks, require_block
from llmviz.interpretability.unit_corpus import TOKENS, CorpusSearch, corpus_of
from llmviz.interpretability.units import search_units, unit_values, unit_writes
from llmviz.nn.layers import ACTIVATIONS
from llmviz.tokenizers import in_line
from llmviz.training.config import OWN_TEXT

KEY = "transformer.units"
GUESS = f"{KEY}.where"
STOPPED = f"{KEY}.stopped"  # in the session: the model whose reading was stopped
TEXTS = 5  # that are shown of a unit, besides the one that is asked for
BEFORE, AFTER = 6, 5  # tokens around the highest that are drawn
ASKED_BEFORE = 9  # in the excerpt that is asked for, so that its place tells nothing
DRAWN = 64  # tokens of the learner's own text
LISTED = 8  # tokens that a unit raises, and as many that it lowers
OFFERED = 8  # units that are named as a choice
SLICE = 0.04  # seconds of work by which a search grows in one rerun
# A large model reads fewer tokens: so many times its parameters, some ten seconds of work.
WORK = 540_000_000_000
POLL = 0.1  # seconds between two reruns while it grows
REACH, POINTS = 6.0, 241  # of the curve of a function, from minus the one to plus the one


class Unit(NamedTuple):
    """A number of a layer, and what was seen of all of them."""

    bundled: engine.Bundled
    found: CorpusSearch
    layer: int
    unit: int

    @property
    def share(self) -> float:
        """The share of all tokens on which it fires."""
        return float(self.found.search.fired[self.layer, self.unit])

    def peaks(self) -> list[tuple[tuple[int, ...], int]]:
        """Its highest texts, each once, the highest first, and the place of the token in each."""
        search = self.found.search
        numbers, places = (p[self.layer, self.unit].tolist() for p in (search.texts, search.places))
        return [(self.found.texts[n], at) for n, at in zip(numbers, places, strict=True)]

    def values(self, text: tuple[int, ...]) -> list[float]:
        """Its value on each token of a text."""
        return values_on(self.bundled, text, self.layer)[:, self.unit].tolist()


def ahead() -> Iterator[None]:
    """Search the units of the model that the chapter opens with."""
    names = kit.bundled_models()
    if names:
        while not growing(engine.load(names[0])).grow(SLICE):
            yield
        growing(engine.load(names[0])).whole()


@kit.cached(8)
def growing(bundled: engine.Bundled) -> GrowingSearch:
    """Return the search of all units of a model as far as it is, the same for all visitors.

    Raises ValueError: its own text cannot be read any more.
    """
    corpus = corpus_of(str(bundled.card.get("corpus")), engine.folder_of(bundled.name) / OWN_TEXT)
    most = WORK // sum(tensor.numel() for tensor in bundled.model.parameters())
    tokens = min(TOKENS, max(AT_ONCE, most))
    return GrowingSearch(bundled.model, bundled.tokenizer, corpus, tokens)


def searched(bundled: engine.Bundled) -> CorpusSearch:
    """Return what all units of a model do on its corpus; about a second and a half, once."""
    grown = growing(bundled)
    grown.grow(math.inf)
    return grown.whole()


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show where a number wakes, the guess and the looks, then what it writes and its curve."""
    kit.prose(words.hook)
    opened = kit.load_and_read(state, WITH_PARTS.name(state), DRAWN, require_block)
    if opened is None:
        kit.source(state, opened=True)
        return
    try:
        grown = growing(opened[0])
        stopped = st.session_state.get(STOPPED) == opened[0].name and grown.known < grown.tokens
        live = not stopped and not grown.grow(0.0)
    except ValueError as error:
        kit.refuse(error)
        kit.source(state, opened=True)
        return
    if stopped:
        _reading(grown, words.go_on, "play_arrow", "")
        kit.source(state, opened=True)
        return
    # A new search is too much for one rerun: it grows by some batches at a time.
    st.fragment(_searched, run_every=POLL if live else None)(state, *opened, live)


def _searched(state: kit.PageState, bundled: engine.Bundled, read: kit.Read, live: bool) -> None:
    """Show what the units did once all is read, and until then how far the reading is."""
    grown = growing(bundled)
    if not grown.grow(SLICE):
        _reading(grown, words.stop, "stop", bundled.name)
        return
    if live:
        kit.run_again()  # which ends the looking
    it = chosen(state, bundled)
    first = state["unit"] == state["unitlayer"] == -1  # a unit that was chosen is there to be seen
    guess = kit.Guess(GUESS, question(it) if first else None, by_hand=True)
    shown = guess.open
    (text, place), *_ = it.peaks()
    token, top = kit.spoken(text[place], bundled.tokenizer), kit.signed(it.values(text)[place])
    with kit.stage("units"):
        _texts(it, guess, read.ids if shown else ())
        _choice(state, it)
        tokens = it.found.search.tokens
        line = words.caption["awake" if it.share > 0 else "asleep"]
        slots: dict[str, Any] = {
            "share": kit.percent(it.share),
            "token": token,
            "value": top,
            "tokens": tokens,
        }
        kit.prose(line, **slots)
    guess.ask()
    kit.source(state)
    if shown and kit.bundled_models()[:1] == [bundled.name]:
        kit.looks(state, words.looks, f"{KEY}.looks")
    _writes(it, text, place)
    _bend(state, it, text)
    if shown:
        every, dead = it.found.search.dead.numel(), int(it.found.search.dead.sum())
        kit.seen(words.end, all=every, dead=never_woke(dead, every, tokens))


def never_woke(dead: int, every: int, tokens: int) -> str:
    """Return in words how many of all units never woke in so many tokens."""
    some = "one" if dead == 1 else "some"
    which = "none" if dead == 0 else "all" if dead == every else some
    return words.end_dead[which].format(dead=dead, tokens=tokens)


def _reading(grown: GrowingSearch, label: str, icon: str, stopped: str) -> None:
    """Show how far the reading is, with a way to stop it, or to go on.

    stopped: the model that is read no more once the button is pressed; "" for none.
    """

    def press() -> None:
        st.session_state[STOPPED] = stopped

    with st.container(horizontal=True, vertical_alignment="center"):
        line = words.wait.format(known=grown.known, tokens=grown.tokens)
        st.progress(grown.known / grown.tokens, line, width=360)
        if st.button(label, key=f"{KEY}.{icon}", icon=f":material/{icon}:", on_click=press):
            kit.run_again()


def chosen(state: kit.PageState, bundled: engine.Bundled) -> Unit:
    """Return the unit of the link; without one, that which fires seldom and strongest."""
    found = searched(bundled)
    layers, units = found.search.fired.shape
    layer = state["unitlayer"] if 0 <= state["unitlayer"] < layers else layers // 2
    unit = state["unit"] if 0 <= state["unit"] < units else found.telling(layer, 1)[0]
    return Unit(bundled, found, layer, unit)


def question(it: Unit) -> kit.Question | None:
    """Ask where a number is highest in one more text; None where there is none, or no neighbours.

    The wrong answers are those of somebody who takes the word that it wakes ahead of, and of one
    who takes what stands before it.
    """
    if len(it.peaks()) <= TEXTS:
        return None
    text, place = it.peaks()[TEXTS]
    near = text[place - 1 : place + 2] if place else ()
    if len(set(near)) < 3:
        return None
    names = dict(zip(range(place - 1, place + 2), near, strict=True))
    before, value, after = map(kit.signed, it.values(text)[place - 1 : place + 2])
    reasons = {place - 1: words.ask_before, place: words.ask_right, place + 1: words.ask_after}
    slots: dict[str, Any] = {"before": before, "value": value, "after": after, "rows": TEXTS}
    return kit.Question.among(
        words.ask,
        reasons,
        place,
        lambda at: kit.spoken(names[at], it.bundled.tokenizer),
        **slots,
    )


def _texts(it: Unit, guess: kit.Guess, own: Sequence[int]) -> None:
    rows = []
    for n, (text, place) in enumerate(it.peaks()[: TEXTS + 1]):
        start = max(0, place - (ASKED_BEFORE if n == TEXTS else BEFORE))
        rows.append(_row(it, text, slice(start, place + AFTER), veiled=guess.asks and n == TEXTS))
    asked_from = max(0, it.peaks()[TEXTS][1] - ASKED_BEFORE) if len(it.peaks()) > TEXTS else 0
    if guess.missed is not None:
        rows[TEXTS] = replace(rows[TEXTS], ghost=guess.missed - asked_from)
    if own:
        rows.append(_row(it, tuple(own), slice(0, None), name=words.own_row))
    key = f"{KEY}.texts"

    def clicked() -> None:
        match st.session_state[key].get("selected"):
            case [int(row), int(at)] if guess.asks and row == TEXTS:
                guess.settle([asked_from + at])

    top = max(it.values(it.peaks()[0][0]))
    token_strip(
        rows,
        key=key,
        show_ids=False,
        value_label=words.value,
        value_range=(0.0, max(top, 1e-3)),
        on_change=clicked,
    )


def _row(
    it: Unit, text: tuple[int, ...], part: slice, *, veiled: bool = False, name: str = ""
) -> TokenRow:
    """Return a part of a text as a row; veiled: without what the unit does there."""
    values, ids, tokenizer = it.values(text)[part], text[part], it.bundled.tokenizer
    tokens = in_line(kit.shown_bytes(ids, tokenizer), ids)
    if veiled:
        return TokenRow(words.asked_row, tokens, values=[0.0] * len(tokens))
    details = [{words.value: kit.signed(value)} for value in values]
    return TokenRow(name or kit.signed(max(values)), tokens, values=values, details=details)


def _choice(state: kit.PageState, it: Unit) -> None:
    layers, units = it.found.search.fired.shape

    def go(value: int | None) -> None:
        if value is not None:
            state["unitlayer"], state["unit"] = value, -1

    def take(value: int | None) -> None:
        if value is not None:
            state["unitlayer"], state["unit"] = it.layer, value

    best = it.found.telling(it.layer, OFFERED)
    with st.popover(words.another, icon=":material/tune:"):
        if layers > 1:
            slot = kit.tied(f"_{KEY}.layer", it.layer, go)
            st.number_input(words.layer, min_value=0, max_value=layers - 1, width=120, **slot)
        slot = kit.tied(f"_{KEY}.unit", it.unit, take)
        st.number_input(words.unit, min_value=0, max_value=units - 1, width=140, **slot)
        among = it.unit if it.unit in best else None
        st.pills(words.strongest, best, **kit.tied(f"_{KEY}.best", among, take))


@kit.cached(128)
def values_on(bundled: engine.Bundled, text: tuple[int, ...], layer: int) -> np.ndarray:
    """Return the values of all units of a layer on a text, (T, F)."""
    return unit_values(bundled.model, text, layer).numpy()


@kit.cached(64)
def _writes_chart(
    bundled: engine.Bundled,
    layer: int,
    unit: int,
    text: tuple[int, ...],
    place: int,
    mode: kit.Mode,
) -> go.Figure:
    writing = kept_writes(bundled, layer, unit, text, place)
    ids = [*writing.more.tolist(), *reversed(writing.less.tolist())]
    values = [*writing.raised.tolist(), *reversed(writing.lowered.tolist())]
    names = [kit.escape_plotly(token) for token in kit.names_of(ids, bundled.tokenizer)]
    return signed_bars(names, values, words.writes_axis, mode)


def _writes(it: Unit, text: tuple[int, ...], place: int) -> None:
    """Show the tokens that a unit raises and lowers most, as bars, and the code of it all."""
    tokenizer, model = it.bundled.tokenizer, it.bundled.model
    kit.section(words.writes.title)
    writing = kept_writes(it.bundled, it.layer, it.unit, text, place)
    ids = [*writing.more.tolist(), *reversed(writing.less.tolist())]
    chart = _writes_chart(it.bundled, it.layer, it.unit, text, place, kit.theme())
    kit.chart(chart, f"{KEY}.writes")
    times = kit.signed(it.values(text)[place] * float(writing.raised[0]))
    slots: dict[str, Any] = {"more": kit.spoken(ids[0], tokenizer), "times": times}
    kit.prose(f"{words.writes_text[model.config.norm]} {words.writes_read.format(**slots)}")
    about = {"layer": it.layer, "unit": it.unit, "text": list(text), "place": place}
    kit.show_code(
        [search_units, unit_writes],
        words.snippet.format(name=it.bundled.name, **about),
        f"{it.values(text)[place]:.2f} at token {place}\n{writing.more[:3].tolist()}",
    )


kept_writes = kit.cached(128)(
    lambda bundled, layer, unit, text, place: unit_writes(
        bundled.model, layer, unit, text, place, LISTED
    )
)


@kit.cached(32)
def before_bend(bundled: engine.Bundled, text: tuple[int, ...], layer: int) -> np.ndarray:
    """Return all numbers of a text before the activation function of a layer, (T·F,)."""
    return all_blocks(bundled.model, text)[layer]["mlp.hidden"].flatten().numpy().copy()


@kit.cached(32)
def bend_line(
    bundled: engine.Bundled, text: tuple[int, ...], layer: int, function: str, mode: kit.Mode
) -> kit.Figure:
    """Return a function over a text's numbers."""
    import torch

    x = torch.linspace(-REACH, REACH, POINTS, dtype=torch.float64)
    line, values = ACTIVATIONS[function](x).numpy(), before_bend(bundled, text, layer)
    names = [words.bends[function]]
    return curve_on_values(x.numpy(), [line], names, values, words.counted, words.bend_axis, mode)


def _bend(state: kit.PageState, it: Unit, text: tuple[int, ...]) -> None:
    """Show the curve that decides how much of each number goes on."""
    own = it.bundled.model.config.activation
    function = own if state["bend"] == "own" else state["bend"]
    kit.section(words.bend)
    kit.choose(state, "bend", words.bend_label, words.bends)
    kit.plot(f"{KEY}.bend", bend_line, it.bundled, text, it.layer, function)
    values = before_bend(it.bundled, text, it.layer)
    kit.prose(
        words.bend_read,
        own=words.bends[own],
        unit=it.unit,
        below=kit.percent(float((values <= 0).mean())),
    )
    kit.programmers(words.formula[function])
