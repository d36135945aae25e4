"""Part of the chapter "Maps": clusters of the vectors, compared with the known kinds of words.

N points, C numbers in a vector, K clusters.
"""

from dataclasses import dataclass

import numpy as np

from llmviz.corpus import word_categories
from llmviz.course.lessons.embeddings.maps import of_snippet, words
from llmviz.course.lessons.embeddings.maps.atlas import Ground
from llmviz.course.lessons.embeddings.word_maps import central
from llmviz.course.ui import kit
from llmviz.similarity import Clusters, adjusted_rand, kmeans, purity

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


@kit.kept(24)
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
