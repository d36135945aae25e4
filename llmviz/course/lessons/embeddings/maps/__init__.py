"""The chapter "Maps" of the lesson "Tokens to vectors"."""

from llmviz.course.document import beside
from llmviz.course.lessons.embeddings.word2vec import word_list
from llmviz.course.lessons.embeddings.word_maps import MOST_NEAR
from llmviz.course.ui import codec
from llmviz.course.ui.state import PageState
from llmviz.similarity import METHODS

words = beside(__file__)

DEFAULT_VECTORS = "tiny-world-word2vec"
POINTS = (50, 100, 200, 500, 1000, 2000)
PERPLEXITIES = (2, 5, 10, 15, 30, 50, 100)
GRAPH = (2, 5, 10, 15, 30, 50, 100)
MOST_SPOTS = 3
NEARNESS = ("cosine", "euclidean")
SHADES = ("kind", "cluster", "trust", "kept")
MOST_CLUSTERS = 32  # so many styles of points can be told apart


def of_snippet(state: PageState) -> dict[str, object]:
    """Return what every snippet of the chapter says of the points."""
    return {key: state[key] for key in ("of", "points", "by", "untrained")}


PARAMS = [
    codec.text("of", DEFAULT_VECTORS),
    codec.choice("map", "pca", METHODS),
    codec.choice("space", "2", ("2", "3")),
    codec.integer("points", 500, 10, POINTS[-1]),
    codec.integer("perplexity", 30, 2, 500),
    codec.integer("graph", 15, 2, 500),  # neighbours in UMAP's graph
    codec.integer("mapseed", 0, 0, 2**31 - 1),
    codec.integer("near", 10, 1, MOST_NEAR),
    codec.choice("by", "cosine", NEARNESS),
    codec.choice("shade", "kind", SHADES),
    codec.integer("clusters", 22, 1, MOST_CLUSTERS),  # as many as there are kinds of words
    codec.integers("off", [], 0, MOST_CLUSTERS - 1),  # clusters without their colour
    word_list("spots", ["Monday"], MOST_SPOTS),
    codec.flag("untrained", False),  # the random table that training began with
]
