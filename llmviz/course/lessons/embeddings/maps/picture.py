"""Part of the chapter "Maps": the picture of a map, and clusters beside the known kinds of words.

N points, C numbers in a vector, K clusters.
"""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from llmviz.corpus import word_categories
from llmviz.course.components.scatter_film.view import MOST_CHOSEN, Film, Near, scatter_film
from llmviz.course.figures.maps import Kinds, Shade, map_in_space
from llmviz.course.lessons.embeddings import words as lesson_words
from llmviz.course.lessons.embeddings.maps import of_snippet, words
from llmviz.course.lessons.embeddings.maps.atlas import Ground
from llmviz.course.lessons.embeddings.word_maps import Judged, central
from llmviz.course.ui import kit
from llmviz.similarity import Clusters, adjusted_rand, kmeans, pairwise, purity

NAMED_WORDS = 6  # of a cluster


@dataclass(frozen=True)
class Colours:
    """What the points are coloured by: `kinds` (N,) of `names`, those in `lit` in colour."""

    kinds: np.ndarray
    names: list[str]
    lit: list[int]
    clusters: Clusters | None = None


def colours(state: kit.PageState, here: Ground) -> Colours:
    """Return the known kinds or the clusters; the kinds, after one clear line, without clusters."""
    if state["shade"] == "cluster":
        try:
            clusters = _clusters(here, state["clusters"], state["mapseed"])
        except ValueError as error:  # more clusters than points
            kit.refuse(error)
        else:
            lit = [colour for colour in range(len(clusters.centers)) if colour not in state["off"]]
            return Colours(clusters.labels.astype(np.int32), _names(here, clusters), lit, clusters)
    kinds = list(word_categories())
    return Colours(here.kinds, kinds, [kind for kind in state["kinds"] if kind < len(kinds)])


@kit.cached(24)
def _clusters(here: Ground, k: int, seed: int) -> Clusters:
    return kmeans(here.vectors, k, seed)


def _names(here: Ground, clusters: Clusters) -> list[str]:
    """Each cluster by its number and the word nearest to its centre."""
    names = []
    for cluster in range(len(clusters.centers)):
        word = here.labels[_central(here, clusters, cluster)[0]]
        names.append(words.cluster.format(number=cluster, word=word))
    return names


def _central(here: Ground, clusters: Clusters, cluster: int) -> list[int]:
    """Return the points of a cluster, those near its centre first."""
    return central(here, clusters.labels, clusters.centers, cluster)


def lit(state: kit.PageState, chosen: list[int]) -> None:
    """Store which colours are switched on."""
    if state["shade"] == "cluster":
        state["off"] = [colour for colour in range(state["clusters"]) if colour not in chosen]
    else:
        state["kinds"] = chosen


def say(state: kit.PageState, here: Ground, colours: Colours) -> None:
    """Say what the clusters are, what is in one, and how far they agree with the known kinds."""
    clusters = colours.clusters
    if clusters is None:
        return
    k = len(clusters.centers)
    first = _central(here, clusters, 0)
    paragraphs = [
        words.clustered.format(k=k, c=here.vectors.shape[1], n=here.size),
        words.cluster_first.format(
            size=kit.count(len(first), "token"),
            words=", ".join(kit.quote(here.labels[i]) for i in first[:NAMED_WORDS]),
        ),
    ]
    known = here.kinds >= 0
    if known.sum() < 2:
        kit.prose("\n\n".join([*paragraphs, words.no_kinds]))
        return
    own, kinds = clusters.labels[known], here.kinds[known]
    agreed = purity(own, kinds), adjusted_rand(own, kinds)
    agreement = words.agreed.format(
        n=int(known.sum()),
        kinds=len(set(kinds.tolist())),
        purity=kit.percent(agreed[0]),
        one=kit.percent(purity(np.zeros(len(kinds)), kinds)),
        rand=agreed[1],
    )
    kit.prose("\n\n".join([*paragraphs, agreement]))
    kit.show_code(
        [kmeans, purity, adjusted_rand],
        words.cluster_snippet.format(
            **of_snippet(state),
            k=k,
            seed=state["mapseed"],
        ),
        f"{agreed[0]:.4f} {agreed[1]:.3f}",
        label=words.cluster_code,
    )


KEY = "embeddings.maps.film"  # "embeddings.map" is the slot of a control


@dataclass(frozen=True)
class MapView:
    """All that is drawn: the points and their neighbours, the chosen points, the colours.

    method: the one that the points come from. revealed: whether each point may say how many of its
    neighbours are true, which is asked of one.
    """

    here: Ground
    judged: Judged
    spots: list[int]
    method: str
    colours: Colours
    revealed: bool


def flat(state: kit.PageState, view: MapView) -> None:
    """Draw a map in two dimensions, where points can be clicked."""
    here, judged, colours = view.here, view.judged, view.colours
    scatter_film(
        Film(
            judged.points[None],
            here.labels,
            words=lesson_words.map_of_words
            | words.film
            | {"near": words.list[state["by"]]}
            | (lesson_words.map_of_words | words.film_clusters if colours.clusters else {}),
            kinds=colours.kinds,
            kind_names=colours.names,
            lit=colours.lit,
            near=[_near(state, here, judged, i) for i in view.spots],
            shade=_shade(state["shade"], judged),
            notes=[
                words.note.format(kept=int(kept), k=judged.k, trust=trust)
                for kept, trust in zip(judged.kept, judged.trust, strict=True)
            ]
            if view.revealed
            else (),
            axes=words.axes[view.method][:2],
        ),
        key=KEY,
        on_act=lambda: _acted(state, here),
    )


def _shade(shade: str, judged: Judged) -> Shade | None:
    """The number that colours the points; its scale begins where all but the worst percent lie."""
    if shade in ("kind", "cluster"):
        return None
    values = judged.trust if shade == "trust" else judged.kept / judged.k
    low = 0.0 if shade == "kept" else np.floor(20 * np.quantile(judged.trust, 0.01)) / 20
    low = float(np.clip(low, 0.0, 0.95))
    return Shade(words.shades[shade], np.clip(values, low, 1.0), low)


def _near(state: kit.PageState, here: Ground, judged: Judged, i: int) -> Near:
    true = judged.true[i]
    cosines = pairwise(here.vectors[[i]], "dot", here.vectors[true])[0]
    if state["by"] == "euclidean":
        values = np.linalg.norm(here.vectors[true] - here.vectors[i], axis=1)
    else:
        values = cosines
    wrong = [int(j) for j in judged.near[i] if j not in set(true.tolist())]
    padded = np.full((1, judged.k), -1)
    padded[0, : len(wrong)] = wrong
    return Near(i, true[None], values[None], padded)


@kit.cached(24)
def space_figure(
    here: Ground,
    judged: Judged,
    kinds: Kinds,
    spots: tuple[int, ...],
    shade: str,
    method: str,
    mode: kit.Mode,
) -> kit.Figure:
    """Return the map in space; `kinds` are those of its `Colours`."""
    return map_in_space(
        judged.points,
        [kit.escape_plotly(label) for label in here.labels],
        kinds,
        [(i, judged.true[i].tolist()) for i in spots],
        _shade(shade, judged),
        words.space_axes[method],
        mode,
    )


def in_space(state: kit.PageState, view: MapView) -> None:
    """Draw a map in three dimensions, which can be turned."""
    here, judged, colours = view.here, view.judged, view.colours
    st.multiselect(
        words.spots,
        sorted(set(here.labels) | set(state["spots"])),
        **state.several("spots"),
        **state.bind("spots"),
    )
    kit.chart(
        space_figure(
            here,
            judged,
            Kinds(
                tuple(colours.kinds.tolist()),
                tuple(kit.escape_plotly(name) for name in colours.names),
                tuple(colours.lit),
                words.others,
            ),
            tuple(view.spots),
            state["shade"],
            view.method,
            kit.theme(),
        ),
        f"{KEY}.space",
        config={"displayModeBar": False, "scrollZoom": False},
    )
    st.caption(words.look_only)
    for i in view.spots:
        near = _near(state, here, judged, i)
        named = zip(near.ids[0], near.values[0], strict=True)
        kit.prose(
            words.true,
            k=judged.k,
            word=kit.quote(here.labels[i]),
            by=words.list[state["by"]],
            near=", ".join(
                f"{kit.quote(here.labels[j])} {kit.signed(value)}" for j, value in named
            ),
        )


def _acted(state: kit.PageState, here: Ground) -> None:
    act = st.session_state[KEY].get("act")
    if not isinstance(act, dict):
        return
    if "lit" in act:
        lit(state, [int(kind) for kind in act["lit"]])
        return
    i = act.get("pick", act.get("drop"))
    if not isinstance(i, int) or not 0 <= i < here.size:
        return
    word = here.labels[i]
    others = [spot for spot in state["spots"] if spot != word and spot in here.labels]
    state["spots"] = others if "drop" in act else [*others, word][-MOST_CHOSEN:]
