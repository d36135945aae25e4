"""Chapter "Patching": one vector of a prompt in the pass over another, and the map of all.

A aligned places, counted from the end; V vocabulary.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st
import torch

from llmviz.figures.stream import three_bars
from llmviz.figures.theme import Mode
from llmviz.lessons.transformer.patching import site_map, words
from llmviz.lessons.transformer.patching.site_map import Map
from llmviz.lessons.transformer.token_choice import token_of
from llmviz.study.patching import Reading, Site, patch, patch_map
from llmviz.study.transformers import require_transformer
from llmviz.textfile import check_text
from llmviz.ui import engine
from llmviz.ui.code import show_code
from llmviz.ui.common import choose, percent, refuse, signed, theme
from llmviz.ui.kept import kept
from llmviz.ui.lesson import section, seen
from llmviz.ui.model_on_text import names_of, spoken
from llmviz.ui.model_picker import Picker, run_again
from llmviz.ui.notices import inform
from llmviz.ui.prose import bold, prose
from llmviz.ui.question import predict
from llmviz.ui.selectable_models import label, load
from llmviz.ui.state import PageState
from llmviz.ui.text import escape_plotly
from llmviz.ui.text_field import text_input

SLICE = 0.04  # seconds of work by which a map grows in one rerun
POLL = 0.1  # seconds between two reruns while it grows
BARS = 6  # tokens whose probabilities are drawn


@st.fragment
def draw(state: PageState) -> None:
    """Show the chapter."""
    section(words.intro)
    left, right = st.columns([3, 1])
    with left:
        text_input(state, "prompt", words.prompt)
        text_input(state, "donor", words.other_prompt)
    with right:
        text_input(state, "answer", words.answer, help=words.answer_help)
        text_input(state, "other", words.other_answer, help=words.answer_help)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        name = Picker().choose(state)
        choose(state, "sites", words.sites_label, words.sites)
    if name is None:
        return
    bundled = load(name)
    if bundled is None:
        return
    try:
        require_transformer(bundled.model)
        own, donor = (ids_of(state[key], bundled) for key in ("prompt", "donor"))
        if own == donor:
            raise ValueError(words.same_prompts)
        pair = answers(state, bundled, own, donor)
        map_of = bundled, own, donor, pair
        grown = site_map.growing(*map_of)
    except ValueError as error:
        refuse(error)
        return
    chances(bundled, own, donor, pair)
    _aligned(own, donor)
    # A new map is too much for one rerun: it grows by some places at a time.
    live = not grown.grow(0.0)
    st.fragment(_map, run_every=POLL if live else None)(state, bundled, map_of, live)


def _map(state: PageState, bundled: engine.Bundled, map_of: tuple[Any, ...], live: bool) -> None:
    """Show the map and all that is said of it once it is whole."""
    grown = site_map.growing(*map_of)
    if not grown.grow(SLICE):
        site_map.waiting(grown, bundled.model.config.n_layer)
        return
    if live:
        run_again()  # which ends the looking
    all_sites = site_map.whole(*map_of)
    pair = _named(bundled, all_sites.pair)
    prose(words.preference, **pair)
    question = site_map.question(all_sites)
    # the map, the cell that opens first and the strongest parts tell the token
    if question is not None and not predict(question, "transformer.patching.ask", covers=True):
        return
    site = site_map.grid(state, bundled, all_sites)
    prose(words.measure)
    _opened(bundled, all_sites, site)
    prose(site_map.strongest(all_sites))
    _code(bundled, all_sites, site)
    seen(words.end, **pair, **site_map.end(all_sites))


def ids_of(text: str, bundled: engine.Bundled) -> tuple[int, ...]:
    """Return a prompt's tokens behind the start token.

    Raises ValueError: it is empty, cannot be written as UTF-8, or is longer than the context.
    """
    if not text:
        raise ValueError(words.empty)
    ids = bundled.tokenizer.encode_from_start(check_text(text))
    limit = bundled.model.context_length
    if len(ids) > limit:
        name = label(bundled.name)
        raise ValueError(words.long.format(count=f"{len(ids):,}", name=name, limit=f"{limit:,}"))
    return tuple(ids)


def answers(
    state: PageState, bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...]
) -> tuple[int, int]:
    """Return the two answers: those typed, or the most probable token after each prompt.

    Raises ValueError: one is no single token, or both are the same.
    """
    pair = []
    for key, ids in (("answer", own), ("other", donor)):
        best = int(site_map.reading(bundled, ids).logits.argmax())
        written = state[key]
        pair.append(token_of(written, [], bundled.tokenizer) if written else best)
    if pair[0] == pair[1]:
        token = names_of(pair[:1], bundled.tokenizer)[0]
        raise ValueError(words.same_answers.format(token=token))
    return pair[0], pair[1]


def _named(bundled: engine.Bundled, pair: tuple[int, int]) -> dict[str, str]:
    own, other = (spoken(token, bundled.tokenizer) for token in pair)
    return {"own": own, "other": other}


def chances(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> None:
    """Say how probable both answers are after each prompt."""
    shares = [
        site_map.reading(bundled, ids).logits.softmax(-1)[list(pair)].tolist()
        for ids in (own, donor)
    ]
    prose(
        words.says,
        **_named(bundled, pair),
        own_share=percent(shares[0][0]),
        own_other=percent(shares[0][1]),
        donor_own=percent(shares[1][0]),
        donor_share=percent(shares[1][1]),
    )


def _aligned(own: tuple[int, ...], donor: tuple[int, ...]) -> None:
    if len(own) != len(donor):
        left = abs(len(own) - len(donor))
        stand = words.left if left == 1 else words.left_more.format(left=left)
        line = words.unequal.format(own=len(own), donor=len(donor), left=stand)
        inform(line, ":material/align_horizontal_right:")
    places = min(len(own), len(donor))
    if places > site_map.PLACES:
        line = words.last_places.format(shown=site_map.PLACES, all=places)
        inform(line, ":material/content_cut:")


@kept(64)
def patched(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], site: Site
) -> torch.Tensor:
    """Return the logits (V,) after the own prompt with one site replaced."""
    readings = (site_map.reading(bundled, ids) for ids in (own, donor))
    return patch(bundled.model, *readings, [site])


def vector(reading: Reading, site: Site, head_size: int) -> torch.Tensor:
    """Return what a prompt has at a site."""
    at = -1 - site.back
    if site.kind == "head":
        return reading.concat[site.layer, at, site.head * head_size : (site.head + 1) * head_size]
    return getattr(reading, site.kind)[site.layer, at]


def _opened(bundled: engine.Bundled, all_sites: Map, site: Site) -> None:
    tokenizer, config = bundled.tokenizer, bundled.model.config
    own, donor = (site_map.reading(bundled, ids) for ids in (all_sites.own, all_sites.donor))
    after = patched(bundled, all_sites.own, all_sites.donor, site)
    a, b = (vector(one, site, config.head_size).double() for one in (own, donor))
    preferences = [
        float(logits[all_sites.pair[1]] - logits[all_sites.pair[0]])
        for logits in (own.logits, after, donor.logits)
    ]
    tokens = [spoken(ids[-1 - site.back], tokenizer) for ids in (all_sites.own, all_sites.donor)]
    title = words.opened.format(site=site_map.site_name(site, config.n_layer), token=tokens[0])
    picture, beside = st.columns([3, 2], gap="large", vertical_alignment="center")
    with picture:
        prose(bold(title))
        figure = opened_bars(bundled, all_sites.own, all_sites.donor, site, theme())
        st.plotly_chart(figure, key="transformer.patching.bars", theme=None)
    line = words.opened_text.format(
        kind=words.kinds[site.kind],
        own=tokens[0],
        donor=tokens[1],
        width=len(a),
        cosine=signed(float(torch.cosine_similarity(a, b, dim=0))),
        before=signed(preferences[0]),
        after=signed(preferences[1]),
        goal=signed(preferences[2]),
        share=site_map.written(all_sites.share(site)),
    )
    with beside:
        prose(line + (words.alike if torch.equal(a, b) else ""))


@kept(64)
def opened_bars(
    bundled: engine.Bundled,
    own: tuple[int, ...],
    donor: tuple[int, ...],
    site: Site,
    mode: Mode,
) -> go.Figure:
    """Return what came out: the likeliest tokens before, patched, and after the other prompt."""
    logits = [site_map.reading(bundled, own).logits]
    logits += [patched(bundled, own, donor, site)]
    logits += [site_map.reading(bundled, donor).logits]
    p = torch.stack(logits).double().softmax(-1)  # (3, V)
    best = p.amax(0).topk(min(BARS, p.shape[1])).indices.tolist()
    names = [escape_plotly(token) for token in names_of(best, bundled.tokenizer)]
    return three_bars(names, p[:, best].tolist(), words.series, mode)


def _code(bundled: engine.Bundled, all_sites: Map, site: Site) -> None:
    after = patched(bundled, all_sites.own, all_sites.donor, site)
    pair = list(all_sites.pair)
    show_code(
        [patch, patch_map],
        "from llmviz.pretrained import load_bundled\n"
        "from llmviz.study.patching import Site, patch, read_prompt\n\n"
        f"model, tokenizer, card = load_bundled({bundled.name!r})\n"
        f"own = read_prompt(model, {list(all_sites.own)})\n"
        f"donor = read_prompt(model, {list(all_sites.donor)})\n"
        f"logits = patch(model, own, donor, [{site!r}])\n"
        f'print([f"{{x:.2f}}" for x in logits[{pair}].tolist()])',
        str([f"{x:.2f}" for x in after[pair].tolist()]),
    )
