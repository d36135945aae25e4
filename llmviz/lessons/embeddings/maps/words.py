"""What the chapter on maps says."""

from llmviz.lessons.embeddings.words import MAP_OF_WORDS

TITLE = "Maps, and where they are wrong"
TEXT = (
    "Nobody can look at dozens of dimensions, so they are drawn in two or three. That causes "
    "errors: points that are far apart can end side by side, and neighbours can end far apart. "
    "Click a point. **The lines go to its true neighbours**, computed from all numbers of the "
    "vectors. Dashed rings mark points that are near on the map only."
)
METHOD = "Method"
METHODS = {"pca": "PCA", "tsne": "t-SNE", "umap": "UMAP"}
SPACE = "Dimensions"
SPACES = {"2": "2", "3": "3"}
BY = "Near means"
NEARNESS = {"cosine": "alike in direction", "euclidean": "close in space"}
POINTS = "Tokens on the map"
PERPLEXITY = "Perplexity"
GRAPH = "Neighbours in the graph"
SEED = "Seed"
NEAR = "Neighbours looked at"
SHADE = "Colour by"
SHADES = {
    "kind": "kind of word",
    "cluster": "clusters",
    "trust": "trust",
    "kept": "true neighbours kept",
}
UNTRAINED = "Before training"
UNTRAINED_HELP = (
    "The table at the start of training: random numbers. Training changes the table and the layers "
    "together. Switch this off to see the same words afterwards."
)
OWN_KIND = (
    "Take a word whose kind is known, and the {k} rows that are nearest to it by all numbers. On "
    "average **{share}** of them are of the same kind; chance would give {chance}."
)
OWN_KIND_BEFORE = (
    "This is the table before training, random numbers. Take a word whose kind is known, and the "
    "{k} rows that are nearest to it. On average **{share}** of them are of the same kind; chance "
    "would give {chance}. Switch “Before training” off to see the table after training."
)
CLUSTERS = "Clusters"
CLUSTER = "{number}: {word}"
CLUSTERED = (
    "**These {k} clusters were computed from all {c} numbers of the {n:,} vectors, not from the "
    "map.** [[k-means]] is told how many clusters to find, and nothing about meanings. A cluster "
    "is all points that are nearest to one centre, and the centre is their mean. So a cluster can "
    "lie in several pieces on the map. Each is named after the word nearest to its centre."
)
CLUSTER_FIRST = "The largest cluster has {size}. Nearest to its centre: {words}."
AGREED = (
    "Are they the kinds of words? Of the {n:,} words whose kind is known, {purity} are of the kind "
    "that is most frequent in their cluster (the *purity*). With one cluster for all words it "
    "would be {one}. The [[adjusted Rand index]] compares pairs of words and is **{rand:.3f}**. It "
    "would be 1 if the clusters were the {kinds} kinds, and about 0 for random clusters."
)
NO_KINDS = "No kinds of these tokens are known, so nothing can be compared with the clusters."
CLUSTER_CODE = "Show the code of the clusters"
OTHERS = "others"
SPOTS = "Words to look at"
LOOK_ONLY = (
    "Drag to turn the map. In three dimensions points cannot be clicked; choose words above."
)
TRUE = "The {k} true neighbours of {word} {by} {near}."
NOT_HERE = "Not among the {n} tokens of this map: {words}."

TOO_FEW = "a map needs 5 tokens at least; there are {n}"
LESS_PERPLEXITY = (
    "A perplexity of {asked} needs more points than {n}; {used:.1f}, the highest possible, is used."
)
LESS_GRAPH = "There are only {n} points: {used} neighbours in the graph are used, not {asked}."
LESS_NEAR = (
    "Trustworthiness is defined for fewer neighbours than half of the {n} points: {used} are used, "
    "not {asked}."
)
LEFT_OUT = "Not on the map: {n} with a row of zeros, because it has no direction."
ALL_OF_THEM = "The map has {n} points; {name} has no other tokens to draw."

QUEUED = "Waiting: {before} before yours …"
FIRST_UMAP = (
    "UMAP is being compiled, once on this machine. That takes about 15 s more than the map itself; "
    "so far {seconds:.0f} s. Meanwhile you see the map of PCA."
)
DRAWING = "{name} is drawing: {seconds:.0f} s. Until it has begun you see the map of PCA."

FILM = MAP_OF_WORDS | {
    "choose": "Click a point, or find it above, to see its true neighbours.",
    "lost": "not among the {n} tokens of this map",
    "map": "Map of the tokens; arrow keys go from point to point, Enter chooses, + and − zoom",
}
FILM_CLUSTERS = {"kinds": "Clusters that are coloured"}
LIST = {"cosine": "by cosine:", "euclidean": "by distance:"}
NOTE = "{kept} of its {k} neighbours here are true; trust {trust:.2f}"
AXES = {
    "pca": (
        "first principal direction",
        "second principal direction",
        "third principal direction",
    ),
    "tsne": ("t-SNE, first coordinate", "second coordinate", "third coordinate"),
    "umap": ("UMAP, first coordinate", "second coordinate", "third coordinate"),
}
# Short ones: in space they stand askew, and a phone cuts long ones off.
SPACE_AXES = {
    "pca": ("1st direction", "2nd direction", "3rd direction"),
    "tsne": ("1st coordinate", "2nd coordinate", "3rd coordinate"),
    "umap": ("1st coordinate", "2nd coordinate", "3rd coordinate"),
}

TRUST_OF_MAP = (
    "**The [[trustworthiness]] of this {name} map is {trust:.3f}.** Among the {k} nearest points "
    "on the map are {kept:.1f} of a word's {k} true neighbours on average, that is {share}. With "
    "points placed at random it would be {chance:.2f}."
)
TRUST_OF_POINT = (
    "{word}: {kept} of its {k} neighbours on the map are true ones; the trust of this point is "
    "{trust:.3f}."
)
COMPARED = (
    "All maps of these vectors so far, with their trustworthiness and how many of {k} true "
    "neighbours they keep on average: {maps}."
)
REACHED = "{name} {trust:.3f} (kept {kept:.1f})"
ABOUT = {
    "pca": (
        "[[PCA]] subtracts the mean of all vectors, finds the directions in which they spread "
        "most, and keeps {d} of them. In truth, two points are at least as far apart as on this "
        "map. Points that are near on it may differ in the other directions."
    ),
    "tsne": (
        "[[t-SNE]] gives each point about as many neighbours as the perplexity says, and arranges "
        "the points so that neighbours stay near. The size of a cluster, its place and the "
        "distance between two clusters say little. Change the perplexity or the seed and look "
        "again."
    ),
    "umap": (
        "[[UMAP]] links every point with its nearest ones and draws this graph. How tight a "
        "cluster is and how wide a gap is say little. Change the number of neighbours or the seed "
        "and look again."
    ),
}
ASK = "On this {name} map, how many of the {k} points nearest to {word} are among its true {k}?"
ASK_ANSWER = "{n} of {k}"
ASK_RIGHT = "{n} of {k}. Its nearest in truth: {true}. Find the word on the map and click it."
ASK_FEWER = (
    "There are fewer, {n} of {k}. With {d} dimensions instead of {c}, some neighbours were lost."
)
ASK_FEWER_FLAT = (
    "There are fewer, {n} of {k}: {name} moves the points, although there are enough dimensions."
)
ASK_MORE = "There are more, {n} of {k}: the map kept more neighbours of this word than that."

SNIPPET = """
from llmviz.similarity import project, trustworthiness
from llmviz.study.vector_tables import load_table
from llmviz.study.word_maps import mapped

table = load_table({of!r}, untrained={untrained})
vectors = mapped(table, {points}, {by!r}).vectors
points = project(vectors, **{arguments})
print(f"{{trustworthiness(vectors, points, {k}):.3f}}")
"""

CLUSTER_SNIPPET = """
from llmviz.similarity import adjusted_rand, kmeans, purity
from llmviz.study.vector_tables import load_table
from llmviz.study.word_maps import mapped

here = mapped(load_table({of!r}, untrained={untrained}), {points}, {by!r})
clusters = kmeans(here.vectors, {k}, seed={seed})
known = here.kinds >= 0
both = clusters.labels[known], here.kinds[known]
print(f"{{purity(*both):.4f}} {{adjusted_rand(*both):.3f}}")
"""
