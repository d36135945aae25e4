"""Chapter "Patching": one vector of a prompt in the pass over another, and the map of all.

A aligned places, counted from the end; V vocabulary.
"""

from typing import Any

import streamlit as st
import torch

from llmviz.course.figures.stream import three_bars
from llmviz.course.lessons.transformer.patching import site_map, words
from llmviz.course.lessons.transformer.patching.site_map import Map
from llmviz.course.ui import engine, kit
from llmviz.course.ui.two_prompts import answers, both_ids, boxes, chances, named, reading, written
from llmviz.interpretability.patching import Reading, Site, patch, patch_map
from llmviz.models.transformers import require_transformer

SLICE = 0.04  # seconds of work by which a map grows in one rerun
POLL = 0.1  # seconds between two reruns while it grows
BARS = 6  # tokens whose probabilities are drawn


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.intro)
    boxes(state, words)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = kit.Picker().choose(state)
        kit.choose(state, "sites", words.sites_label, words.sites)
    bundled = kit.load(name)
    if bundled is None:
        return
    try:
        require_transformer(bundled.model)
        own, donor = both_ids(state, bundled)
        pair = answers(state, bundled, own, donor)
        map_of = bundled, own, donor, pair
        grown = site_map.growing(*map_of)
    except ValueError as error:
        kit.refuse(error)
        return
    chances(bundled, own, donor, pair)
    _aligned(own, donor)
    # A new map is too much for one rerun: it grows by some places at a time.
    live = not grown.grow(0.0)
    st.fragment(_map, run_every=POLL if live else None)(state, bundled, map_of, live)


def _map(
    state: kit.PageState, bundled: engine.Bundled, map_of: tuple[Any, ...], live: bool
) -> None:
    """Show the map and all that is said of it once it is whole."""
    grown = site_map.growing(*map_of)
    if not grown.grow(SLICE):
        site_map.waiting(grown, bundled.model.config.n_layer)
        return
    if live:
        kit.run_again()  # which ends the looking
    all_sites = site_map.whole(*map_of)
    pair = named(bundled, all_sites.pair)
    kit.prose(words.preference, **pair)
    question = site_map.question(all_sites)
    # the map, the cell that opens first and the strongest parts tell the token
    if question is not None and not kit.predict(question, "transformer.patching.ask", covers=True):
        return
    site = site_map.grid(state, bundled, all_sites)
    kit.prose(words.measure)
    _opened(bundled, all_sites, site)
    kit.prose(site_map.strongest(all_sites))
    _code(bundled, all_sites, site)
    kit.seen(words.end, **pair, **site_map.end(all_sites))


def _aligned(own: tuple[int, ...], donor: tuple[int, ...]) -> None:
    if len(own) != len(donor):
        left = abs(len(own) - len(donor))
        stand = words.left if left == 1 else words.left_more.format(left=left)
        line = words.unequal.format(own=len(own), donor=len(donor), left=stand)
        kit.inform(line, ":material/align_horizontal_right:")
    places = min(len(own), len(donor))
    if places > site_map.PLACES:
        line = words.last_places.format(shown=site_map.PLACES, all=places)
        kit.inform(line, ":material/content_cut:")


@kit.kept(64)
def patched(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], site: Site
) -> torch.Tensor:
    """Return the logits (V,) after the own prompt with one site replaced."""
    readings = (reading(bundled, ids) for ids in (own, donor))
    return patch(bundled.model, *readings, [site])


def vector(read: Reading, site: Site, head_size: int) -> torch.Tensor:
    """Return what a prompt has at a site."""
    at = -1 - site.back
    if site.kind == "head":
        return read.concat[site.layer, at, site.head * head_size : (site.head + 1) * head_size]
    return getattr(read, site.kind)[site.layer, at]


def _opened(bundled: engine.Bundled, all_sites: Map, site: Site) -> None:
    tokenizer, config = bundled.tokenizer, bundled.model.config
    own, donor = (reading(bundled, ids) for ids in (all_sites.own, all_sites.donor))
    after = patched(bundled, all_sites.own, all_sites.donor, site)
    a, b = (vector(read, site, config.head_size).double() for read in (own, donor))
    preferences = [
        float(logits[all_sites.pair[1]] - logits[all_sites.pair[0]])
        for logits in (own.logits, after, donor.logits)
    ]
    tokens = [
        kit.spoken(ids[-1 - site.back], tokenizer) for ids in (all_sites.own, all_sites.donor)
    ]
    title = words.opened.format(site=site_map.site_name(site, config.n_layer), token=tokens[0])
    picture, beside = st.columns([3, 2], gap="large", vertical_alignment="center")
    with picture:
        kit.prose(kit.bold(title))
        figure = opened_bars(bundled, all_sites.own, all_sites.donor, site, kit.theme())
        kit.chart(figure, "transformer.patching.bars")
    line = words.opened_text.format(
        kind=words.kinds[site.kind],
        own=tokens[0],
        donor=tokens[1],
        width=len(a),
        cosine=kit.signed(float(torch.cosine_similarity(a, b, dim=0))),
        before=kit.signed(preferences[0]),
        after=kit.signed(preferences[1]),
        goal=kit.signed(preferences[2]),
        share=written(all_sites.share(site)),
    )
    with beside:
        kit.prose(line + (words.alike if torch.equal(a, b) else ""))


@kit.kept(64)
def opened_bars(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    site: Site,
    mode: kit.Mode,
) -> kit.Figure:
    """Return what came out: the likeliest tokens before, patched, and after the other prompt."""
    logits = [reading(bundled, own).logits]
    logits += [patched(bundled, own, donor, site)]
    logits += [reading(bundled, donor).logits]
    p = torch.stack(logits).double().softmax(-1)  # (3, V)
    best = p.amax(0).topk(min(BARS, p.shape[1])).indices.tolist()
    names = [kit.escape_plotly(token) for token in kit.names_of(best, bundled.tokenizer)]
    return three_bars(names, p[:, best].tolist(), words.series, mode)


def _code(bundled: engine.Bundled, all_sites: Map, site: Site) -> None:
    after = patched(bundled, all_sites.own, all_sites.donor, site)
    pair = list(all_sites.pair)
    kit.show_code(
        [patch, patch_map],
        words.snippet.format(
            name=bundled.name,
            own=list(all_sites.own),
            donor=list(all_sites.donor),
            site=site,
            pair=pair,
        ),
        str([f"{x:.2f}" for x in after[pair].tolist()]),
    )
