"""What the chapter on maps says."""

TITLE = "Maps, and how they lie"
TEXT = (
    "Nobody can look at dozens of dimensions, so they are drawn in two or three. That cannot be "
    "done without errors: points that are far apart end side by side, and neighbours are torn "
    "apart. Click a point. **The lines go to its true neighbours**, found from all numbers of the "
    "vectors, and dashed rings mark those that are near on the map only."
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
    "cluster": "clusters found",
    "trust": "trust",
    "kept": "true neighbours kept",
}
UNTRAINED = "Before training"
UNTRAINED_HELP = (
    "The table that training began with: random numbers. The layers and the table are learned "
    "together; switch this off to see what became of the same words."
)
OWN_KIND = (
    "Of the {k} nearest of a word whose kind is known, by all numbers, **{share}** are of its "
    "own kind; chance would give {chance}."
)
OWN_KIND_BEFORE = (
    "This is the table before training, random numbers. Of the {k} nearest of a word whose kind is "
    "known, **{share}** are of its own kind; chance would give {chance}. Switch “Before training” "
    "off to see what training made of it."
)
CLUSTERS = "Clusters"
CLUSTER = "{number}: {word}"
CLUSTERED = (
    "**These {k} clusters were found in all {c} numbers of the {n:,} vectors, not on the map.** "
    "[[k-means]] was told how many to find and nothing about meanings: a cluster is the points "
    "that are nearest to one centre, and the centre is their mean. Where one looks torn apart, the "
    "map tore it. Each is named after the word nearest to its centre."
)
CLUSTER_FIRST = "The largest holds {size:,}, nearest to its centre {words}."
AGREED = (
    "Do they find the kinds of words? Of the {n:,} words whose kind is known, {purity} are of the "
    "kind that is most frequent in their cluster (the *purity*); a single cluster for all would "
    "reach {one}. The [[adjusted Rand index]], which compares pairs of words, is **{rand:.3f}**: 1 "
    "if the clusters were the {kinds} kinds, about 0 for random clusters."
)
NO_KINDS = "No kinds of these tokens are known, so nothing can be compared with the clusters."
CLUSTER_CODE = "Show the code of the clusters"
OTHERS = "others"
SPOTS = "Words to look at"
LOOK_ONLY = "Drag to turn it. In three dimensions points cannot be clicked; choose words above."
TRUE = "The {k} true neighbours of {word} {by} {near}."
NOT_HERE = "Not among the {n} tokens of this map: {words}."

TOO_FEW = "a map needs 5 tokens at least; there are {n}"
LESS_PERPLEXITY = (
    "A perplexity of {asked} needs more points than {n}; {used:.1f}, the highest possible, is used."
)
LESS_GRAPH = "There are only {n} points: {used} neighbours in the graph are used, not {asked}."
LESS_NEAR = "Of {n} points, less than half can be called neighbours: {used} are used, not {asked}."
LEFT_OUT = "{n} with a row of zeros, which has no direction, is not on the map."
ALL_OF_THEM = "{name} has {n} tokens, and all of them are on the map."

QUEUED = "Waiting: {before} before yours …"
FIRST_UMAP = (
    "UMAP is being compiled, once on this machine, which takes some 15 s on top of the map itself. "
    "So far {seconds:.0f} s. Meanwhile you see the map of PCA."
)
DRAWING = "{name} is drawing: {seconds:.0f} s. Until it has begun you see the map of PCA."

FILM = {
    "near": "",
    "choose": "Click a point, or find it above, to see its true neighbours.",
    "drop": "let go of",
    "false": "Near on the map only:",
    "find": "Find a word",
    "found": "{n} found",
    "lost": "not among the {n} tokens of this map",
    "map": "Map of the tokens; arrow keys go from point to point, Enter chooses, + and − zoom",
    "in": "closer (or Ctrl and wheel)",
    "out": "farther",
    "whole": "the whole map",
    "kinds": "Kinds of words that are coloured",
    "all": "all",
    "none": "none",
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
    "**The [[trustworthiness]] of this {name} map is {trust:.3f}.** A word's {k} neighbours on it "
    "hold {kept:.1f} of its true {k} on average, that is {share}; points placed at random "
    "would hold {chance:.2f}."
)
TRUST_OF_POINT = (
    "{word}: {kept} of its {k} neighbours on the map are true ones; the trust of this point is "
    "{trust:.3f}."
)
COMPARED = (
    "Trustworthiness of the maps drawn of these vectors so far, and how many of {k} true "
    "neighbours they keep on average: {maps}."
)
REACHED = "{name} {trust:.3f} (kept {kept:.1f})"
ABOUT = {
    "pca": (
        "[[PCA]] subtracts the mean of all vectors, finds the directions in which they spread "
        "most, and keeps {d} of them. Two points are at least as far apart in truth as on this "
        "map; points that are near on it may differ in the directions that were dropped."
    ),
    "tsne": (
        "[[t-SNE]] gives each point about as many neighbours as the perplexity says and arranges "
        "all so that they stay near. How large a cluster is, how far two clusters are apart and "
        "where they lie says little: change the perplexity or the seed and look again."
    ),
    "umap": (
        "[[UMAP]] links every point with its nearest ones and lays that net out. How tight a "
        "cluster is drawn and how wide a gap says little: change the number of neighbours or the "
        "seed and look again."
    ),
}
ASK = "On this {name} map, how many of the {k} points nearest to {word} are among its true {k}?"
ASK_ANSWER = "{n} of {k}"
ASK_RIGHT = "{n} of {k}. Its nearest in truth: {true}. Find it on the map and click it."
ASK_FEWER = (
    "There are fewer, {n} of {k}. There is no room in {d} dimensions for all that is near in {c}."
)
ASK_FEWER_FLAT = "There are fewer, {n} of {k}: {name} moves points even where it need not."
ASK_MORE = "There are more, {n} of {k}. A map loses neighbours, but not all of them."

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
