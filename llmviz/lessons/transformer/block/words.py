"""All that the chapter "One block, opened" says. Names in braces: live numbers."""

TITLE = "One block, from its input to its output"
TEXT = (
    "A transformer is a stack of blocks, also called [[layer|layers]]. Each block does the same "
    "two things. First comes [[attention]]: each token collects values from the tokens that it may "
    "look at. Then a [[feed-forward network]] works on every token by itself. Each result is added "
    "to the [[residual stream]]. Most models also have a norm before or after each of the two, "
    "which brings the numbers to one size. Go through the stages with the arrows, or press play. "
    "Point at any cell to see its arithmetic."
)
HEAD = "Head"
ORDER = "Norms"
ORDERS = {"own": "as the model was built", "pre": "before each part", "post": "after each +"}

# How a stage is called, what its box says, and what it says where there is little room.
STAGES = {
    "x": ("x, the input of layer {layer}", "x", "x"),
    "norm1": ("{kind}, the first", "norm", "n"),
    "qkv": ("queries, keys and values", "Q K V", "QKV"),
    "scores": ("scores: each query times each key", "scores", "QKᵀ"),
    "weights": ("attention weights and context", "weights", "·V"),
    "join": ("all heads joined", "W_O", "W_O"),
    "sum1": ("the output of attention is added to the stream", "+", "+"),
    "norm2": ("{kind}, the second", "norm", "n"),
    "up": ("feed-forward: up", "up", "up"),
    "act": ("feed-forward: {activation}", "{activation}", "σ"),
    "down": ("feed-forward: down", "down", "dn"),
    "sum2": ("the output of the feed-forward network is added", "+", "+"),
}
KINDS = {"layer": "layer norm", "rms": "RMSNorm"}
ACTIVATIONS = {
    "gelu": "GELU",
    "gelu_tanh": "GELU (tanh form)",
    "relu": "ReLU",
    "silu": "SiLU",
    "swiglu": "SwiGLU",
}
BOXES = {"gelu_tanh": "GELU"}  # shorter than the name

# What is said below the title of a stage, what its shapes are, and what is learned there.
X_FIRST = (
    "Each token is a row: its embedding{position}. Layer 0 reads it, and every layer adds to it."
)
X_POSITION = " plus the vector of its position"
X_LATER = "Each token is a row: the output of layer {before}."
NORM = (
    "For each row: subtract its mean, then divide by its standard deviation. Then multiply each "
    "column by a learned scale and add a learned shift."
)
NORM_PLAIN = (
    "For each row: subtract its mean, then divide by its standard deviation. Then multiply each "
    "column by a learned scale."
)
NORM_RMS = (
    "Divide each row by the root of its mean square. Then multiply each column by a learned scale. "
    "The mean is not subtracted."
)
QKV = (
    "Three products for each token: its query (what it looks for), its key (what queries are "
    "compared with) and its value (what it passes on)."
)
QKV_SHARED = " Heads of a group share their keys and values."
TURNED = " Queries and keys are then turned by angles that grow with the position."
SCORES = "Every query times every key, {scale}."
SCORES_MASKED = " A token must not see later tokens, so those cells become −∞."
SCORES_WINDOW = " It must also not see tokens that are {window} or more places back."
SOFTMAX = (
    "Softmax turns each row into shares that add up to 1. Each token gets the sum of the values, "
    "each multiplied by its share."
)
JOIN = "The contexts of the {heads} heads are put side by side, and W_O mixes them."
JOIN_ONE = (
    "There is one head. W_O leaves its context unchanged: it has ones on the diagonal and zeros "
    "elsewhere."
)
JOIN_SINGLE = "There is one head, and W_O mixes its columns."
SUM1 = "The output of attention is added to the stream, number by number."
SUM2 = "The output of the feed-forward network is added, too. {after}"
OUT = "This is the output of the layer."
THEN_NORM = "A norm follows."
UP = "For each token by itself, {c} numbers become {f}. Each of the new numbers is called a unit."
UP_GATED = (
    "For each token by itself, two products: {c} numbers become {f} numbers of a gate, and {f} "
    "numbers that the gate is multiplied with."
)
ACT = "{activation} of each number: a number far below 0 becomes 0 or nearly 0."
ACT_GATED = "SiLU of the gate, multiplied by the other product."
DOWN = "Back to the width of the stream: {f} numbers become {c}, so that they can be added to it."
SHAPES = "(B, T, C) = (1, {t}, {c}){more}"
SHAPES_QKV = " → (B, H, T, D) = (1, {h}, {t}, {d}); this is head {head}"
SHAPES_SHARED = "; keys and values (B, {g}, T, D)"
SHAPES_SCORES = "(B, H, T, D) = (1, {h}, {t}, {d}) → (B, H, T, T) = (1, {h}, {t}, {t})"
SHAPES_WEIGHTS = "(B, H, T, T) = (1, {h}, {t}, {t}) → (B, H, T, D) = (1, {h}, {t}, {d})"
SHAPES_JOIN = "(B, H, T, D) = (1, {h}, {t}, {d}) → (B, T, C) = (1, {t}, {c})"
SHAPES_UP = " → (B, T, F) = (1, {t}, {f})"
SHAPES_ACT = "(B, T, F) = (1, {t}, {f}), the same as before"
SHAPES_DOWN = "(B, T, F) = (1, {t}, {f}) → (B, T, C) = (1, {t}, {c})"
SAME_SHAPE = ", the same as before"
LEARNED = "Parameters here: {count:,} numbers ({tensors})."
NOT_LEARNED = "There are no parameters here."
TENSORS = {
    "norm1.weight": "scale",
    "norm1.bias": "shift",
    "norm2.weight": "scale",
    "norm2.bias": "shift",
    "attn.qkv.weight": "W of all heads",
    "attn.qkv.bias": "b",
    "attn.projection.weight": "W_O",
    "attn.projection.bias": "b_O",
    "mlp.hidden.weight": "W_up",
    "mlp.hidden.bias": "b_up",
    "mlp.up.weight": "W_up",
    "mlp.up.bias": "b_up",
    "mlp.output.weight": "W_down",
    "mlp.output.bias": "b_down",
}
GATED_TENSORS = {"mlp.hidden.weight": "W_gate", "mlp.hidden.bias": "b_gate"}

STACK = "All layers at once"
STACK_TEXT = (
    "Each row is a layer, each column a stage. A cell shows how large the numbers are there: the "
    "root of their mean square, over all tokens and columns. Click a cell to open that stage above."
)
STACK_LABEL = "size of the numbers at each stage of each layer"
STACK_ROW = "layer {layer}"
STACK_NOTE = "size {size:.3f}"
STACK_COLUMNS = {
    "input": "x",
    "norm1": "norm",
    "attn": "attention",
    "sum1": "+",
    "norm2": "norm",
    "mlp": "feed-forward",
    "sum2": "+",
}

CHANGES = (
    "**Before or after.** With pre-norm, the norms stand before attention and before feed-forward. "
    "No norm changes the stream itself: in this layer the size of its numbers goes from {x:.2f} to "
    "{pre:.2f}. With post-norm, the norms stand after each +, on the stream. Its size is then "
    "{post:.2f} at the end of the layer, and {low:.2f} to {high:.2f} for single tokens. Both are "
    "computed with this layer's weights. The first transformers were post-norm, GPT-2 is pre-norm. "
    "With pre-norm, the input has a path through all layers on which other vectors are only added "
    "to it. So deep stacks can be trained without a slow warm-up of the learning rate (Xiong and "
    "others, 2020)."
)
SWAPPED = (
    "The model was trained with norms {own}. Here the same weights run on the same input with "
    "norms {now}. The arithmetic is right, but the weights were not trained for it."
)
SWAPPED_SMALL = "Here the same weights run with norms {now}. Nothing in this example was trained."
WHERE = {"pre": "before each part", "post": "after each +"}
NO_NORMS = "This model has no norms in its layers, so there is nothing to move."

ASK = "In this layer, which part adds the longer vector to the last token, {token}?"
PARTS = {"attn": "attention", "mlp": "the feed-forward network"}
ASK_RIGHT = "Yes: the vector that {part} adds is {length:.2f} long."
ASK_WRONG = "The vector that {part} adds is {length:.2f} long."
COUNT = "Which part of this layer has the most parameters?"
COUNTED = {
    "norms": "the norms",
    "qkv": "the queries, keys and values",
    "projection": "W_O, after the heads",
    "mlp": "the feed-forward network",
}
COUNT_RIGHT = "Yes: {count:,} of {all:,}."
COUNT_WRONG = "This part has {count:,} of {all:,}."
CODE = "Show the code of this stage"
