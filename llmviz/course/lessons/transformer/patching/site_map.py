"""The map of all sites in the chapter "Patching": computed once, drawn, and asked about.

A aligned places, counted from the end; L layers, H heads.
"""

import math
from dataclasses import dataclass

import numpy as np
import streamlit as st

from llmviz.course.components.cell_grid.view import cell_grid
from llmviz.course.lessons.transformer.patching import words
from llmviz.course.ui import engine, kit
from llmviz.course.ui.two_prompts import NO_DIFFERENCE, reading, written
from llmviz.interpretability.growing_map import GrowingMap
from llmviz.interpretability.patching import KINDS, Site
from llmviz.textfile import whole_number

PLACES = 24  # that have a column, the last ones
KEY = "transformer.patching.map"
ANSWERS = 4  # places that the question offers
LEAST_MOVED = 0.01  # of the way; below it nothing is said to move


@dataclass(frozen=True)
class Map:
    """What each site moves: shares of the way from the own preference to the donor's."""

    own: tuple[int, ...]
    donor: tuple[int, ...]
    pair: tuple[int, int]  # the own answer and the other one
    sites: dict[Site, float]
    n_layer: int
    columns: tuple[str, ...]  # names of the places, the last place last

    def share(self, site: Site) -> float:
        """The share of one site; 0 is the own preference, 1 the donor's."""
        return self.sites[site]


@kit.kept(64)
def growing(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> GrowingMap:
    """Return the map of two prompts as far as it is, the same for all visitors.

    Raises ValueError: both prompts prefer the one answer to the other equally.
    """
    model, read = bundled.model, [reading(bundled, ids) for ids in (own, donor)]
    try:
        return GrowingMap(model, *read, pair, PLACES)
    except ValueError:
        raise ValueError(NO_DIFFERENCE) from None


def waiting(grown: GrowingMap, n_layer: int) -> None:
    """Show how far a map is that is not whole yet."""
    sites = sum(site.back == 0 for site in grown.shares) or n_layer
    st.progress(grown.known / grown.places, words.wait.format(count=sites * grown.places))


@kit.kept(64)
def whole(
    bundled: engine.Bundled, own: tuple[int, ...], donor: tuple[int, ...], pair: tuple[int, int]
) -> Map:
    """Return the map of two prompts once all of it is known."""
    grown = growing(bundled, own, donor, pair)
    grown.grow(math.inf)
    tokenizer, n_layer = bundled.tokenizer, bundled.model.config.n_layer
    tokens = [kit.names_of(ids[-grown.places :], tokenizer) for ids in (own, donor)]
    columns = tuple(
        a if a == b else words.column.format(own=a, donor=b) for a, b in zip(*tokens, strict=True)
    )
    return Map(own, donor, pair, grown.shares, n_layer, columns)


def site_name(site: Site, n_layer: int) -> str:
    """Return what a site's row is called."""
    if site.kind == "stream" and site.layer == n_layer:
        return words.rows["last"].format(layer=n_layer - 1)
    return words.rows[site.kind].format(layer=site.layer, head=site.head)


def rows_of(all_sites: Map, kinds: str) -> list[Site]:
    """Return the first site of each row that is drawn: those at the last place."""
    wanted = KINDS if kinds == "all" else (kinds,)
    here = [site for site in all_sites.sites if site.back == 0 and site.kind in wanted]
    return sorted(here, key=lambda site: (KINDS.index(site.kind), site.layer, site.head))


def link_of(site: Site) -> str:
    """Return how a link names a site.

    >>> link_of(Site("head", 1, 0, 3))
    'head.1.0.3'
    """
    return ".".join(map(str, site[: 4 if site.kind == "head" else 3]))


def chosen_site(link: str, all_sites: Map) -> Site:
    """Return the site that a link names, or, where there is none such, the strongest head."""
    kind, *numbers = link.split(".")
    place = [whole_number(part) for part in numbers]
    if None not in place and len(place) == (3 if kind == "head" else 2):
        site = Site(kind, *place)
        if site in all_sites.sites:
            return site
    return strongest_of(all_sites, "head")


def strongest_of(all_sites: Map, kind: str) -> Site:
    """Return the site of a kind that moves most towards the donor's answer."""
    return max((s for s in all_sites.sites if s.kind == kind), key=all_sites.sites.__getitem__)


def grid(state: kit.PageState, bundled: engine.Bundled, all_sites: Map) -> Site:
    """Draw the map and return the opened site."""
    rows, places = rows_of(all_sites, state["sites"]), len(all_sites.columns)
    lines = [[row._replace(back=places - 1 - j) for j in range(places)] for row in rows]
    values = np.array([[all_sites.share(site) for site in line] for line in lines])
    site = chosen_site(state["site"], all_sites)
    row = next((i for i, part in enumerate(rows) if part._replace(back=site.back) == site), None)
    cell_grid(
        np.clip(values, -9.99, 9.99),
        key=KEY,
        row_names=[site_name(part, all_sites.n_layer) for part in rows],
        column_names=all_sites.columns,
        notes=[[words.note.format(share=written(x)) for x in line] for line in values],
        starts=[i for i in range(1, len(rows)) if rows[i].kind != rows[i - 1].kind],
        limit=1.0,
        scale=words.scale,
        label=words.grid,
        chosen=None if row is None else (row, places - 1 - site.back),
        on_change=kit.bound(
            state, KEY, chosen=("site", lambda at: link_of(lines[at[0]][at[1]]) if at else "")
        ),
    )
    return site


def strongest(all_sites: Map) -> str:
    """Return the sentences about the strongest head and the strongest feed-forward output."""
    lines = []
    for kind, line in words.read.items():
        site = strongest_of(all_sites, kind)
        moved = all_sites.share(site) >= LEAST_MOVED
        lines.append((line if moved else words.unmoved[kind]).format(**_told(all_sites, site)))
    return " ".join(lines)


def end(all_sites: Map) -> dict[str, str]:
    """Return what the end says of the stream in the middle, and of the strongest part."""
    middle = max(_middle(all_sites), key=all_sites.share)
    part = max((strongest_of(all_sites, kind) for kind in words.read), key=all_sites.share)
    lines = []
    for site, moved, unmoved in (
        (middle, words.end_stream, ""),
        (part, words.end_part, words.end_unmoved),
    ):
        line = moved if all_sites.share(site) >= LEAST_MOVED else unmoved
        lines.append(line.format(**_told(all_sites, site)))
    return dict(zip(("stream", "part"), lines, strict=True))


def _told(all_sites: Map, site: Site) -> dict[str, str]:
    name = site_name(site, all_sites.n_layer)
    token = kit.quote(all_sites.columns[-1 - site.back])
    share, least = written(all_sites.share(site)), written(LEAST_MOVED)
    return {"site": name, "token": token, "share": share, "least": least}


def _middle(all_sites: Map) -> list[Site]:
    """The sites of the stream in the middle of the model, the last place first."""
    layer = max(1, all_sites.n_layer // 2)
    return [Site("stream", layer, back) for back in range(len(all_sites.columns))]


def place_name(all_sites: Map, back: int) -> str:
    """Return what an answer calls a place, so that it is the only one of that name."""
    name = all_sites.columns[-1 - back]
    if all_sites.columns.count(name) == 1:
        return words.place.format(name=name)
    return (words.place_of_several if back else words.place_last).format(name=name, back=back)


def question(all_sites: Map) -> kit.Question | None:
    """Return at which token most is moved in the middle, as a question.

    None for one place, where two move as much, and where none moves towards the second prompt.
    """
    sites, places = _middle(all_sites), len(all_sites.columns)
    shares = [all_sites.share(site) for site in sites]
    order = sorted(range(places), key=lambda back: -shares[back])
    best = written(shares[order[0]])
    alike = [back for back in order[1:] if written(shares[back]) == best]
    if places < 2 or alike or shares[order[0]] < LEAST_MOVED:
        return None
    lines = dict.fromkeys(order[:ANSWERS], words.ask_wrong) | {order[0]: words.ask_right}
    return kit.Question.among(
        words.ask,
        {back: line.format(share=written(shares[back])) for back, line in lines.items()},
        order[0],
        lambda back: kit.escape_markdown(place_name(all_sites, back)),
        row=site_name(sites[0], all_sites.n_layer),
    )
