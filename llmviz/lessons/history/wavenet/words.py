"""All that the chapter "WaveNet" says. Names in braces are filled in with live numbers."""

TITLE = "Joined pair by pair"
TEXT = (
    "The MLP puts all letters of its window into one long vector and combines them in a single "
    "step. A WaveNet does this step by step. It joins two letters to a node, two nodes to a larger "
    "one, and so on, until one node has seen the whole window. All nodes of a level share their "
    "weights. Each level doubles the window. (The WaveNet of 2016, made for sound, also has gates "
    "and connections past its levels. This one has the tree alone.)"
)
AT = "The tree above"
TREE = "The tree of one letter"
TREE_TEXT = (
    "The letters stand at the bottom, with their vectors of {width} numbers; a dot stands before "
    "the name. Each node shows its own numbers, and below them the letters that it has seen. Click "
    "a node to see how it was made."
)
LEAVES, LEVEL, ROOT = "letters", "level {n}", "level {n}, the whole window"
SHAPE = "{n} × {width}"
VIEW = {
    "name": "the tree of nodes, each made from two below it; arrow keys go from node to node",
    "node": "{title}: a node that has seen “{seen}”",
}
PAD, START = "·", "⟨start⟩"
READ = (
    "The window of {window} letters needs {levels} levels: {sizes} nodes. The last node gives the "
    "probabilities of the next letter: {best}."
)
BEST = "{token} {p}"
REAL = " In this tree {real} of the {window} places hold the name or its start."
OPENED = "The node {seen}, opened"
OPENED_TEXT = (
    "It read the nodes {left} and {right}: {pair} numbers side by side. The level's matrix makes "
    "{width} out of them, batch norm shifts and scales each, and a tanh brings them between −1 "
    "and 1."
)
LEAF = "The vector of {seen}"
LEAF_TEXT = "A letter's vector is a row of the table of embeddings. It was learned, too."
LEAF_LABEL = "embedding"
ASK = (
    "This tree has {levels} levels for a window of {window} letters. How many levels would a "
    "window of {wide} letters need?"
)
ASK_RIGHT = "Each level doubles the window, so four times the letters need two levels more."
ASK_WRONG = "A tree of {n} levels sees {sees} letters. Each level doubles the window."
SHARED = "What neighbours share"
SHARED_TEXT = (
    "Each letter of the name has its own tree. But a node above the same places of the name is "
    "computed only once, for all trees that contain it. For the {tokens} tokens of this name the "
    "model computes, level by level, {shared} nodes. If the trees shared nothing, the model would "
    "compute {apart}."
)
