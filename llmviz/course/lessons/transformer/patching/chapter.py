"""Chapter "Patching": one vector of a prompt in the pass over another, and the map of all.

A aligned places, counted from the end; L layers; V vocabulary.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
import torch

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.document.marks import cleared
from llmviz.course.figures.stream import three_bars
from llmviz.course.lessons.transformer.page import MODEL
from llmviz.course.lessons.transformer.patching import words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.two_prompts import answers, both_ids, named, reading, written
from llmviz.files.text import whole_number
from llmviz.interpretability.growing_map import GrowingMap
from llmviz.interpretability.patching import KINDS, Site, patch, patch_map
from llmviz.models.transformers import require_transformer

KEY = "transformer.patching"
GUESS = f"{KEY}.first"
SLICE = 0.04  # seconds of work by which a map grows in one rerun
POLL = 0.1  # seconds between two reruns while it grows
PLACES = 24  # that have a column, the last ones
LONGEST = 40  # tokens of a sentence that are shown, the last ones
BARS = 4  # tokens whose probabilities are drawn
HALF = 0.5  # of the way: from there on a vector carries the answer
LEAST_MOVED = 0.01  # of the way; below it nothing is said to move
SPAN = 2  # rows of a deep model by which a guess may be off
DEEP = 12  # layers of a model whose parts are tried only when asked for, at the last token
STREAM, PARTS = ("stream",), ("head", "mlp")
BOTH = "head.1.0.2,head.1.0.3"  # the heads of a look


@dataclass(frozen=True)
class Map:
    """What each site moves: shares of the way from the own preference to the donor's."""

    own: tuple[int, ...]
    donor: tuple[int, ...]
    pair: tuple[int, int]  # the own answer and the other one
    sites: dict[Site, float]
    n_layer: int
    columns: tuple[str, ...]  # names of the places, the last place last

    def name(self, site: Site) -> str:
        """What a site's row is called."""
        last = site.kind == "stream" and site.layer == self.n_layer
        kind, layer = ("last", site.layer - 1) if last else (site.kind, site.layer)
        return words.rows[kind].format(layer=layer, head=site.head)

    def first(self) -> int:
        """The first row of the stream in which the last token carries the answer."""
        shares = [self.sites[Site("stream", layer, 0)] for layer in range(self.n_layer + 1)]
        return next((layer for layer, part in enumerate(shares) if part >= HALF), self.n_layer)


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the map of the stream, the guess on it and the looks, then heads and feed-forward."""
    kit.prose(words.hook)
    bundled = kit.load(MODEL.name(state))
    try:
        if bundled is None:
            return
        require_transformer(bundled.model)
        _fit_prompts(state, bundled)
        own, donor = both_ids(state, bundled)
        map_of = bundled, own, donor, answers(state, bundled, own, donor)
        grown = growing(*map_of, kinds_of(bundled))
    except ValueError as error:
        kit.refuse(error)
        kit.source(state, opened=True)
        return
    # A new map is too much for one rerun: it grows by some places at a time.
    live = not grown.grow(0.0)
    st.fragment(_map, run_every=POLL if live else None)(state, bundled, map_of, live)


def _asked_for(state: kit.PageState, bundled: engine.Bundled) -> tuple[Any, ...] | None:
    """Return what the map of the typed sentences is made of; None where there is none."""
    try:
        own, donor = both_ids(state, bundled)
        return bundled, own, donor, answers(state, bundled, own, donor)
    except ValueError:
        return None


def _fit_prompts(state: kit.PageState, bundled: engine.Bundled) -> None:
    """Put in the prompts that a model is opened with, where those of the other kind stand."""
    own = [(words.own, words.donor), (words.real_own, words.real_donor)]
    wanted = own[bundled.name in engine.obtained()]
    if (state["prompt"], state["donor"]) in own and wanted != (state["prompt"], state["donor"]):
        state["prompt"], state["donor"] = wanted


def is_deep(bundled: engine.Bundled) -> bool:
    """Whether a model has too many parts to try all of them for everybody."""
    return bundled.model.config.n_layer > DEEP


def kinds_of(bundled: engine.Bundled) -> tuple[str, ...]:
    """Return what the map tries by itself."""
    return STREAM if is_deep(bundled) else KINDS


@kit.cached(64)
def growing(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    pair: tuple[int, int],
    kinds: tuple[str, ...] = KINDS,
) -> GrowingMap:
    """Return the map of two prompts as far as it is, the same for all visitors.

    The parts of a deep model are tried at the last token alone.
    Raises ValueError: both prompts prefer the one answer to the other equally.
    """
    first, second = (reading(bundled, ids) for ids in (own, donor))
    most = 1 if kinds == PARTS else places(bundled, own, donor)
    try:
        return GrowingMap(bundled.model, first, second, pair, most, kinds)
    except ValueError:
        raise ValueError(furniture.prompts["no_difference"]) from None


def places(bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...]) -> int:
    """Return how many places are drawn: from the first that differs.

    Before it nothing can move, if the prompts are equally long and no token sees later ones.
    """
    if len(own) != len(donor) or bundled.model.config.mask != "causal":
        return PLACES
    first = next(at for at, (a, b) in enumerate(zip(own, donor, strict=True)) if a != b)
    return min(PLACES, len(own) - first)


@kit.cached(64)
def whole(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> Map:
    """Return the map of two prompts once all of it is known."""
    grown = growing(bundled, own, donor, pair, kinds_of(bundled))
    grown.grow(math.inf)
    tokens = [kit.names_of(ids[-grown.places :], bundled.tokenizer) for ids in (own, donor)]
    columns = tuple(
        a if a == b else words.column.format(own=a, donor=b) for a, b in zip(*tokens, strict=True)
    )
    return Map(own, donor, pair, grown.shares, bundled.model.config.n_layer, columns)


def _map(
    state: kit.PageState, bundled: engine.Bundled, map_of: tuple[Any, ...], live: bool
) -> None:
    if _asked_for(state, bundled) != map_of:  # a sentence was typed in this part of the page
        kit.run_again()
    grown = growing(*map_of, kinds_of(bundled))
    if not grown.grow(SLICE):
        st.progress(grown.known / grown.total, words.wait)
        return
    if live:
        kit.run_again()  # which ends the looking
    sites_map = whole(*map_of)
    deep, tried = is_deep(bundled), growing(*map_of, PARTS) if is_deep(bundled) else None
    if tried is not None and tried.known == tried.total:
        sites_map = replace(sites_map, sites=sites_map.sites | tried.shares)
    pair, chosen = named(bundled, sites_map.pair), chosen_sites(state["site"], sites_map)
    seen = any(site.kind == "stream" and not site.back for site in chosen)
    leads = f"site={link_of(Site('stream', sites_map.first(), 0))}"
    guess = kit.Guess(GUESS, question(sites_map), seen, by_hand=True, leads=leads)
    shown = guess.open
    with kit.stage("patching"):
        kit.prose(sentences(bundled, sites_map))
        left, right = st.columns([2, 1], gap="medium", vertical_alignment="center")
        with left:
            _grid(state, sites_map, ("stream",), chosen, guess)
        with right:
            kit.plot(f"{KEY}.bars", bars, bundled, sites_map.own, sites_map.donor, chosen)
        kit.prose(
            words.caption,
            site=kit.listed([sites_map.name(site) for site in chosen]),
            token=kit.quote(sites_map.columns[-1 - chosen[0].back]),
            share=written(share(bundled, sites_map, chosen)),
            **pair,
        )
    guess.ask()
    kit.source(state)
    _aligned(sites_map)
    if not shown:
        return
    if (state["prompt"], state["donor"]) == (words.own, words.donor):
        _looks(state, bundled, sites_map)
    kit.real_look(state, words.real, f"{KEY}.real", "travels")
    kit.section(words.parts)
    if tried is not None and tried.known < tried.total:
        _try_parts(sites_map, tried)
    elif deep:
        _parts_of_last(state, sites_map, chosen)
        kit.prose(strongest(sites_map))
    else:
        kit.choose(state, "sites", words.sites_label, words.sites)
        _grid(state, sites_map, PARTS if state["sites"] == "all" else (state["sites"],), chosen)
        kit.prose(strongest(sites_map))
    _code(bundled, sites_map, chosen)
    row = sites_map.name(Site("stream", sites_map.first(), 0))
    kit.seen(words.end, **pair, row=row, token=kit.quote(sites_map.columns[-1]))


def _try_parts(sites_map: Map, tried: GrowingMap) -> None:
    """Try the parts of a deep model once that is asked for, with a way to stop."""
    key = f"{KEY}.try"
    going = st.session_state.get(key) == (sites_map.own, sites_map.donor, sites_map.pair)

    def begin() -> None:
        st.session_state[key] = sites_map.own, sites_map.donor, sites_map.pair

    if not going:
        token = kit.quote(sites_map.columns[-1])
        label = words.try_parts.format(count=tried.total, token=token)
        st.button(label, key=f"{key}.begin", on_click=begin, icon=":material/play_arrow:")
        return

    @st.fragment(run_every=POLL)
    def grow() -> None:
        if tried.grow(SLICE):
            st.session_state.pop(key, None)
            kit.run_again()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(tried.known / tried.total, words.wait, width=360)
            st.button(
                words.stop, key=f"{key}.stop", on_click=st.session_state.pop, args=(key, None)
            )

    grow()


def _parts_of_last(state: kit.PageState, sites_map: Map, chosen: tuple[Site, ...]) -> None:
    """Draw what each head and feed-forward of a deep model moves at the last token."""
    parts = [site for site in sites_map.sites if site.kind in PARTS]
    heads = 1 + max(site.head for site in parts)
    lines = [
        [*(Site("head", layer, 0, head) for head in range(heads)), Site("mlp", layer, 0)]
        for layer in range(sites_map.n_layer)
    ]
    values = np.array([[sites_map.sites[site] for site in line] for line in lines])
    key = f"{KEY}.parts"
    open_at = [(i, j) for i, line in enumerate(lines) for j, x in enumerate(line) if x in chosen]

    def clicked() -> None:
        cell = st.session_state[key].get("chosen")
        if cell and cell[0] < len(lines) and cell[1] <= heads:
            state["site"] = link_of(lines[cell[0]][cell[1]])

    cell_grid(
        np.clip(values, -9.99, 9.99),
        key=key,
        row_names=[words.layer.format(layer=layer) for layer in range(len(lines))],
        column_names=[*(words.head.format(head=head) for head in range(heads)), words.mlp],
        notes=[[words.note.format(share=written(value)) for value in line] for line in values],
        limit=1.0,
        scale=words.scale,
        label=words.grid,
        chosen=open_at[0] if open_at else None,
        on_change=clicked,
    )


def sentences(bundled: engine.Bundled, sites_map: Map) -> str:
    """Return both sentences with their answers, in bold what differs; of long ones the end."""
    changed, decode = swapped(sites_map), bundled.tokenizer.decode
    lines = []
    for ids, answer in zip((sites_map.own, sites_map.donor), sites_map.pair, strict=True):
        read = ids[len(bundled.tokenizer.start) :]
        text = "…" if len(read) > LONGEST else ""
        for back in range(min(len(read), LONGEST) - 1, -1, -1):
            piece = cleared(decode([read[-1 - back]]))
            text += kit.bold(piece) if back in changed else piece
        lines.append(words.sentence.format(text=text, answer=cleared(decode([answer])).strip()))
    return "\n\n".join(lines)


def _aligned(sites_map: Map) -> None:
    own, donor = len(sites_map.own), len(sites_map.donor)
    if own != donor:
        kit.inform(words.unequal.format(own=own, donor=donor), ":material/align_horizontal_right:")
    if len(sites_map.columns) == PLACES < min(own, donor):
        line = words.last_places.format(shown=PLACES, all=min(own, donor))
        kit.inform(line, ":material/content_cut:")


def _looks(state: kit.PageState, bundled: engine.Bundled, sites_map: Map) -> None:
    both, later = chosen_sites(BOTH, sites_map), range(1, sites_map.n_layer + 1)
    if len(both) < 2 or len(later) < 2:
        return  # of a model of another size
    slots = {f"swapped{at}": sites_map.sites[Site("stream", at, 2)] for at in (1, 2)}
    most = max(sites_map.sites[Site("stream", at, 1)] for at in later)
    stayed = words.between["some" if most >= LEAST_MOVED else "none"].format(most=written(most))
    slots["both"] = share(bundled, sites_map, both)
    told = {name: written(part) for name, part in slots.items()} | {"stayed": stayed}
    kit.looks(state, words.looks, f"{KEY}.looks", **told)


def link_of(site: Site) -> str:
    """Return how a link names a site.

    >>> link_of(Site("head", 1, 0, 3))
    'head.1.0.3'
    """
    return ".".join(map(str, site[: 4 if site.kind == "head" else 3]))


def chosen_sites(link: str, sites_map: Map) -> tuple[Site, ...]:
    """Return the sites that a link names; where there is none such, the swapped word's stream."""
    sites = []
    for part in link.split(","):
        kind, *numbers = part.split(".")
        read = [whole_number(number) for number in numbers]
        place = [number for number in read if number is not None]
        if len(place) == len(read) == (3 if kind == "head" else 2):
            sites.append(Site(kind, *place))
    known = tuple(dict.fromkeys(site for site in sites if site in sites_map.sites))
    return known or (Site("stream", 0, max(swapped(sites_map), default=0)),)


def swapped(sites_map: Map) -> set[int]:
    """Return the places at which the sentences have different tokens."""
    pairs = zip(reversed(sites_map.own), reversed(sites_map.donor), strict=False)
    backs = [back for back, (own, donor) in enumerate(pairs) if own != donor]
    return set(backs) & set(range(len(sites_map.columns)))


def share(bundled: engine.Bundled, sites_map: Map, sites: tuple[Site, ...]) -> float:
    """Return how much of the way some sites move together."""
    if len(sites) == 1:
        return sites_map.sites[sites[0]]
    read = [reading(bundled, ids).logits for ids in (sites_map.own, sites_map.donor)]
    logits = torch.stack([*read, patched(bundled, sites_map.own, sites_map.donor, sites)])
    start, goal, moved = (logits[:, sites_map.pair[1]] - logits[:, sites_map.pair[0]]).tolist()
    return (moved - start) / (goal - start)


@kit.cached(64)
def patched(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], sites: tuple[Site, ...]
) -> torch.Tensor:
    """Return the logits (V,) after the own prompt with some sites replaced."""
    first, second = (reading(bundled, ids) for ids in (own, donor))
    return patch(bundled.model, first, second, sites)


@kit.cached(64)
def bars(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    sites: tuple[Site, ...],
    mode: kit.Mode,
) -> kit.Figure:
    """Return what came out: the likeliest tokens before, patched, and after the other prompt."""
    logits = [reading(bundled, own).logits, patched(bundled, own, donor, sites)]
    p = torch.stack([*logits, reading(bundled, donor).logits]).double().softmax(-1)  # (3, V)
    best = p.amax(0).topk(min(BARS, p.shape[1])).indices.tolist()
    names = [kit.escape_plotly(token) for token in kit.names_of(best, bundled.tokenizer)]
    return three_bars(names, p[:, best].tolist(), words.series, mode)


def _grid(
    state: kit.PageState,
    sites_map: Map,
    kinds: tuple[str, ...],
    chosen: tuple[Site, ...],
    guess: kit.Guess | None = None,
) -> None:
    """Draw the sites of some kinds; a click opens one, or answers where a question is asked."""
    first = [site for site in sites_map.sites if site.back == 0 and site.kind in kinds]
    rows = sorted(first, key=lambda site: (KINDS.index(site.kind), site.layer, site.head))
    width, key = len(sites_map.columns), f"{KEY}.{'-'.join(kinds)}"
    lines = [[row._replace(back=width - 1 - j) for j in range(width)] for row in rows]
    values = np.array([[sites_map.sites[site] for site in line] for line in lines])
    texts = [[written(value) for value in line] for line in values]
    if guess is not None and guess.asks:  # the first row is told, and what was opened
        for i, j in np.ndindex(values.shape):
            if i and lines[i][j] not in chosen:
                values[i, j], texts[i][j] = 0, words.waits
    open_at = [(i, j) for i, line in enumerate(lines) for j, x in enumerate(line) if x in chosen]

    def clicked() -> None:
        cell = st.session_state[key].get("chosen")
        if cell and cell[0] < len(lines) and cell[1] < width:
            state["site"] = link_of(lines[cell[0]][cell[1]])
            if guess is not None and guess.asks and cell[1] == width - 1:
                guess.settle([cell[0]])

    cell_grid(
        np.clip(values, -9.99, 9.99),
        key=key,
        row_names=[sites_map.name(row) for row in rows],
        column_names=sites_map.columns,
        texts=texts if width <= 8 else (),
        notes=[[words.note.format(share=text) for text in line] for line in texts],
        starts=[i for i in range(1, len(rows)) if rows[i].kind != rows[i - 1].kind],
        limit=1.0,
        scale=words.scale,
        label=words.grid,
        chosen=open_at[0] if len(open_at) == 1 else None,
        together=open_at,
        ghost=(guess.missed, width - 1) if guess and guess.missed is not None else None,
        on_change=clicked,
    )


def question(sites_map: Map) -> kit.Question | None:
    """Ask from which row on the last token carries the answer; None where an end is right.

    The wrong answers are those of somebody to whom it is there from the start, and of one to whom
    it comes where the model says it.
    """
    last, right = sites_map.n_layer, sites_map.first()
    if right in (0, last) or len(sites_map.own) != len(sites_map.donor):
        return None
    if last > DEEP:
        return _question_of_many(sites_map, right)
    return kit.Question.among(
        words.ask,
        {0: words.ask_start, right: _why(sites_map, right), last: words.ask_end},
        right,
        lambda layer: sites_map.name(Site("stream", layer, 0)),
        scale=True,
        token=kit.quote(sites_map.columns[-1]),
    )


def _why(sites_map: Map, right: int) -> str:
    """Return what is seen where the last token begins to carry the answer."""
    return words.ask_right.format(
        token=kit.quote(sites_map.columns[-1]),
        share=written(sites_map.sites[Site("stream", right, 0)]),
        before=written(sites_map.sites[Site("stream", right - 1, 0)]),
    )


def _question_of_many(sites_map: Map, right: int) -> kit.Question:
    """Ask the same of many rows, where up to SPAN rows off is right, and a row farther is not."""
    shares = [sites_map.sites[Site("stream", row, 0)] for row in range(sites_map.n_layer + 1)]
    far = SPAN + 1

    def name(row: float) -> str:
        return sites_map.name(Site("stream", int(row), 0))

    answers = {name(right): (right, _why(sites_map, right))}
    if right >= far:
        row = name(right - far)
        most = written(max(shares[: right - far + 1]))
        early = right - far - SPAN, words.ask_early.format(row=row, share=most)
        answers = {words.ask_earlier.format(row=row): early, **answers}
    if right + far < len(shares):
        row = name(right + far)
        answers[words.ask_later.format(row=row)] = right + far + SPAN, words.ask_late
    return kit.Question(
        words.ask_deep.format(token=kit.quote(sites_map.columns[-1]), rows=len(shares), span=SPAN),
        list(answers),
        list(answers).index(name(right)),
        [reason for _, reason in answers.values()],
        scale=True,
        values=[(value,) for value, _ in answers.values()],  # half-way to a wrong one lies between
        write=name,
    )


def strongest(sites_map: Map) -> str:
    """Return the sentence about the part that moves most, without the swapped word in layer 0."""
    word = swapped(sites_map)
    parts = [
        site
        for site in sites_map.sites
        if site.kind != "stream" and (site.layer or site.back not in word)
    ]
    best = max(parts, key=sites_map.sites.__getitem__, default=None)
    if best is None or sites_map.sites[best] < LEAST_MOVED:
        return words.unmoved
    token, moved = kit.quote(sites_map.columns[-1 - best.back]), written(sites_map.sites[best])
    return words.strongest.format(site=sites_map.name(best), token=token, share=moved)


def _code(bundled: engine.Bundled, sites_map: Map, sites: tuple[Site, ...]) -> None:
    after = patched(bundled, sites_map.own, sites_map.donor, sites)
    pair = list(sites_map.pair)
    kit.show_code(
        [patch, patch_map],
        words.snippet.format(
            name=bundled.name,
            own=list(sites_map.own),
            donor=list(sites_map.donor),
            sites=list(sites),
            pair=pair,
        ),
        str([f"{x:.2f}" for x in after[pair].tolist()]),
    )
