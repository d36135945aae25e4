"""All that the chapter "One block, opened" says. Names in braces: live numbers."""

TITLE = "One block, from its input to its output"
TEXT = (
    "A transformer is a stack of blocks, also called [[layer|layers]]. Each does the same two "
    "things to the [[residual stream]]: [[attention]] collects values from the tokens that each "
    "token may look at, and a [[feed-forward network]] works on every token by itself. Each result "
    "is added to the stream. In most models a norm stands before each of the two, or behind it, "
    "and brings the numbers to one size. Walk through all of it with the arrows, or press play; "
    "point at any cell to see its arithmetic."
)
HEAD = "Head"
ORDER = "Norms stand"
ORDERS = {"own": "as the model was built", "pre": "before each part", "post": "behind each +"}

# How a stage is called, what its box says, and what it says where there is little room.
STAGES = {
    "x": ("x, the input of layer {layer}", "x", "x"),
    "norm1": ("{kind}, the first", "norm", "n"),
    "qkv": ("queries, keys and values", "Q K V", "QKV"),
    "scores": ("scores: which key fits which query", "scores", "QKᵀ"),
    "weights": ("attention weights and context", "weights", "·V"),
    "join": ("all heads together", "W_O", "W_O"),
    "sum1": ("what attention says is added to the stream", "+", "+"),
    "norm2": ("{kind}, the second", "norm", "n"),
    "up": ("feed-forward: up", "up", "up"),
    "act": ("feed-forward: {activation}", "{activation}", "σ"),
    "down": ("feed-forward: down", "down", "dn"),
    "sum2": ("what the feed-forward layer says is added", "+", "+"),
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
X_LATER = "Each token is a row: what layer {before} handed on."
NORM = (
    "Each row by itself: take its mean off, divide by its deviation. Then a learned scale and "
    "shift for each column."
)
NORM_PLAIN = (
    "Each row by itself: take its mean off, divide by its deviation. Then a learned scale for "
    "each column."
)
NORM_RMS = (
    "Each row by itself: divide it by the root of its mean square. Then a learned scale for each "
    "column. The mean stays where it is."
)
QKV = "Three products: what each token asks for, what it can be found by, what it hands over."
QKV_SHARED = " Heads of a group share their keys and values."
TURNED = " Queries and keys then turn by angles that grow with the position."
SCORES = "Every query times every key, {scale}."
SCORES_MASKED = " A token must not see what lies ahead: those cells become −∞."
SCORES_WINDOW = " Nor may it see what is {window} or more places back."
SOFTMAX = "Softmax makes shares of each row. Every token takes the values in these shares."
JOIN = "The {heads} heads' contexts stand side by side, and W_O mixes them."
JOIN_ONE = "There is one head. W_O hands it on unchanged: ones on the diagonal, else zeros."
JOIN_SINGLE = "There is one head, and W_O mixes its columns."
SUM1 = "The stream keeps what it had; attention's answer is added, number by number."
SUM2 = "The feed-forward answer is added, too. {after}"
OUT = "This is what the layer hands on."
THEN_NORM = "A norm still follows."
UP = "Each token by itself: {c} numbers become {f}, each a unit that looks for something."
UP_GATED = (
    "Each token by itself, twice: {c} numbers become {f} of a gate, and {f} that the gate lets "
    "through."
)
ACT = "{activation} of each number: what is far below 0 becomes 0 or nearly so."
ACT_GATED = "SiLU of the gate, times the other product."
DOWN = "And back: {f} numbers become {c}, which can be added to the stream."
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

STACK = "All layers, as they stand on each other"
STACK_TEXT = (
    "Each row is a layer, each column a stage. A cell has the size of the numbers there: the root "
    "of their mean square, over all tokens and columns. Click a cell to open that stage above."
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
    "**Before or behind.** With the norms before attention and feed-forward (pre-norm), no layer "
    "norms the stream itself: here its numbers go from a size of {x:.2f} to {pre:.2f}. With the "
    "norms behind each + (post-norm), they stand on the stream: it leaves with {post:.2f}, and "
    "the single tokens with {low:.2f} to {high:.2f}. Both are computed with this layer's weights. "
    "The first transformers were post-norm. GPT-2 put the norms before: an input then has a way "
    "through all layers on which it is only added to, and deep stacks can be trained without a "
    "slow warm-up of the learning rate (Xiong and others, 2020)."
)
SWAPPED = (
    "The model was trained with its norms {own}. Here the same weights run on the same input with "
    "their norms {now}: real arithmetic, but weights that were not trained for it."
)
SWAPPED_SMALL = (
    "Here the same weights run with their norms {now}. Nothing in this example was trained."
)
WHERE = {"pre": "before each part", "post": "behind each +"}
NO_NORMS = "This model has no norms in its layers, so there is nothing to move."

ASK = "Which of the two adds the longer vector to the last token, {token}, in this layer?"
PARTS = {"attn": "attention", "mlp": "the feed-forward network"}
ASK_RIGHT = "Yes: the vector that {part} adds is {length:.2f} long."
ASK_WRONG = "The vector that {part} adds is {length:.2f} long."
COUNT = "Which part of this layer has the most parameters?"
COUNTED = {
    "norms": "the norms",
    "qkv": "the queries, keys and values",
    "projection": "W_O, behind the heads",
    "mlp": "the feed-forward network",
}
COUNT_RIGHT = "Yes: {count:,} of {all:,}."
COUNT_WRONG = "Here are {count:,} of {all:,}."
CODE = "Show the code of this stage"
