"""What the chapter on maps says."""

from llmviz.lessons.embeddings.words import MAP_OF_WORDS

TITLE = "Maps, and where they are wrong"
TEXT = (
    "Nobody can see dozens of dimensions, so a map has only two or three. This causes errors: "
    "points that are far apart can be side by side on the map, and neighbours can be far apart on "
    "it. Click a point. **The lines go to its true neighbours**, computed from all numbers of the "
    "vectors. Dashed rings mark points that are near only on the map."
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
NEAR = "Neighbours compared"
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
    "Take a word whose kind is known, and the {k} rows that are nearest to it when all numbers "
    "count. On average, **{share}** of them are of the same kind. By chance it would be {chance}."
)
OWN_KIND_BEFORE = (
    "This is the table before training: random numbers. Take a word whose kind is known, and the "
    "{k} rows that are nearest to it. On average, **{share}** of them are of the same kind. By "
    "chance it would be {chance}. Switch “Before training” off to see the table after training."
)
CLUSTERS = "Clusters"
CLUSTER = "{number}: {word}"
CLUSTERED = (
    "**These {k} clusters were computed from all {c} numbers of the {n:,} vectors, not from the "
    "map.** So a cluster can lie in several pieces on the map. [[k-means]] gets the number of "
    "clusters and no information about meanings. A cluster is all points that are nearest to the "
    "same centre, and the centre is their mean. Each cluster has the name of the word nearest to "
    "its centre."
)
CLUSTER_FIRST = "The largest cluster has {size}. Nearest to its centre: {words}."
AGREED = (
    "Are the clusters the kinds of words? Of the {n:,} words whose kind is known, {purity} are of "
    "the kind that is most frequent in their cluster. This is called the *purity*. With one "
    "cluster for all words it would be {one}. The [[adjusted Rand index]] compares pairs of words "
    "and is **{rand:.3f}**. It would be 1 if the clusters were the {kinds} kinds, and about 0 for "
    "random clusters."
)
NO_KINDS = (
    "The kinds of these tokens are not known, so there is nothing to compare the clusters with."
)
CLUSTER_CODE = "Show the code of the clusters"
OTHERS = "others"
SPOTS = "Words to look at"
LOOK_ONLY = (
    "Drag to turn the map. In three dimensions, points cannot be clicked. Choose words above."
)
TRUE = "The {k} true neighbours of {word} {by} {near}."
NOT_HERE = "Not among the {n} tokens of this map: {words}."

TOO_FEW = "a map needs 5 tokens at least; there are {n}"
LESS_PERPLEXITY = (
    "A perplexity of {asked} needs more points than {n}. So {used:.1f} is used, the highest "
    "possible value."
)
LESS_GRAPH = "There are only {n} points: {used} neighbours in the graph are used, not {asked}."
LESS_NEAR = (
    "For trustworthiness, there must be fewer neighbours than half of the {n} points. So {used} "
    "are used, not {asked}."
)
LEFT_OUT = "Not on the map: {n} with a row of zeros, because it has no direction."
ALL_OF_THEM = "The map has {n} points; {name} has no other tokens to draw."

QUEUED = "Waiting: {before} before yours …"
FIRST_UMAP = (
    "UMAP is being compiled. This is done only once on this machine and takes some seconds more "
    "than the map itself; so far {seconds:.0f} s. Until then you see the map of PCA."
)
DRAWING = (
    "{name} is computing its map: {seconds:.0f} s. Until its first points are there, you see the "
    "map of PCA."
)

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
    "**The [[trustworthiness]] of this {name} map is {trust:.3f}.** On average, {kept:.1f} of the "
    "{k} true neighbours of a word are among its {k} nearest points on the map. That is {share}. "
    "With points placed at random, {chance:.2f} of the {k} would be there."
)
TRUST_OF_POINT = (
    "{word}: {kept} of its {k} neighbours on the map are true neighbours. The trust of this point "
    "is {trust:.3f}."
)
COMPARED = (
    "These are all maps of these vectors so far. For each map you see its trustworthiness, and how "
    "many of {k} true neighbours it keeps on average: {maps}."
)
REACHED = "{name} {trust:.3f} (kept {kept:.1f})"
ABOUT = {
    "pca": (
        "[[PCA]] subtracts the mean of all vectors, finds the directions in which they spread "
        "most, and keeps {d} of these directions. The true distance of two points is never smaller "
        "than their distance on this map. Points that are near on the map may differ in the other "
        "directions."
    ),
    "tsne": (
        "[[t-SNE]] gives each point about as many neighbours as the perplexity says, and arranges "
        "the points so that neighbours stay near. The size of a cluster, its place and the "
        "distance between two clusters say little. Change the perplexity or the seed and look "
        "again."
    ),
    "umap": (
        "[[UMAP]] links every point with its nearest ones and draws this graph. The density of a "
        "cluster and the width of a gap say little. Change the number of neighbours or the seed "
        "and look again."
    ),
}
ASK = "On this {name} map, how many of the {k} points nearest to {word} are among its true {k}?"
ASK_ANSWER = "{n} of {k}"
ASK_RIGHT = (
    "{n} of {k}. The true nearest neighbours are {true}. Find the word on the map and click it."
)
ASK_FEWER = (
    "There are fewer, {n} of {k}. With {d} dimensions instead of {c}, some neighbours were lost."
)
ASK_FEWER_FLAT = (
    "There are fewer, {n} of {k}. There are enough dimensions, but {name} moves the points."
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
