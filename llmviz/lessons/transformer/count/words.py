"""All that the chapter "Counting" says. Names in braces are filled in with live numbers."""

TITLE = "Where the parameters are"
TEXT = (
    "A model's size follows from a few settings. Choose a published shape or type your own. Each "
    "matrix is counted; no model has to be built for this."
)
SHAPE = "Shape"
LABELS = {
    "layers": "Layers",
    "heads": "Heads",
    "kv": "Heads of keys and values (0: one for each head)",
    "width": "Width C",
    "hidden": "Feed-forward width (0: usual)",
    "vocab": "Vocabulary V",
    "context": "Context length",
    "positions": "Positions",
    "norm": "Norm",
    "activation": "Activation",
    "experts": "Experts in a layer",
    "tied": "The output head is the embedding",
    "qkvbias": "Biases of queries, keys and values",
    "bias": "Other biases",
}
MORE = "All settings"
TOTAL = "**{total:,} parameters**{used}. {largest}"
LARGEST = "The largest part is {part}, with {share}."
LARGEST_TIED = "The largest parts are {part}, with {share} each."
USED = (
    ", of which a single token uses {used:,}: it is sent to {sent} of {experts} experts in each "
    "layer"
)
PARTS = {
    "token": "token embedding",
    "position": "position embedding",
    "attention": "attention",
    "mlp": "feed-forward",
    "router": "routers",
    "norm": "norms",
    "head": "head",
}
BARS_AXIS = "parameters"
TABLE = "Every learned tensor"
COLUMNS = ["tensor", "part", "shape", "in layers", "parameters"]
ONCE = "once"
COST_TITLE = "What it takes to run and to train"
COST_TEXT = (
    "The weights take as many bytes as parameters times bytes per number. Training with AdamW also "
    "needs memory for a gradient and two running averages of each parameter. And it keeps the "
    "numbers that the backward pass uses again."
)
BATCH = "Texts in a batch, each as long as the context"
STORED = "The cache is stored as"
COST_COLUMNS = ["what", "how much"]
COSTS = {
    "float32": "weights in float32",
    "bfloat16": "weights in bfloat16",
    "int8": "weights in int8",
    "int4": "weights in int4",
    "train32": "training in float32, AdamW, {batch} texts",
    "train16": "training in bfloat16 with a float32 copy, AdamW, {batch} texts",
    "activations": "numbers kept for the backward pass, per token",
    "flops": "operations for the next token, with a full context",
    "token": "cache of one token, in {stored}",
    "cache": "cache of one full context, in {stored}",
}
HELD = (
    "**Counted in a real training step.** A model of the shape “{shape}” made one step with AdamW "
    "in float32. After it, the optimizer holds {averages:,} bytes of running averages for "
    "{parameters:,} parameters: {each:.2f} bytes per parameter. Together with weights and "
    "gradients it is {all:.2f} bytes."
)
NOTE = (
    "Operations: a product and its addition count as two. Norms, activation functions and softmax "
    "are left out. The numbers kept for the backward pass are those of a model with fused "
    "attention."
)
SMALL_TITLE = "A small example: 17,516"
SMALL_TEXT = (
    "The decoder of a small translator: 12 tokens, width 32, 8 heads of 4, feed-forward width 128, "
    "one layer, no biases in attention. It has a second attention, which looks at the source. Its "
    "tensors add up to **{total:,}**."
)
QUESTION = (
    "In the settings above, the output head is {state}. Compare two models of these sizes. In the "
    "first, the output head is the token embedding. In the second, it is a matrix of its own. How "
    "many parameters does the first save?"
)
TIED = "the token embedding"
UNTIED = "a matrix of its own"
RIGHT = "The output head's matrix has V × C = {vocab:,} × {width:,} = {right:,} numbers."
WRONG = {
    "block": "That is one whole block. The head has V × C = {right:,} numbers.",
    "context": "That is context × C. The head has a row for each token: V × C = {right:,}.",
    "square": "That is C × C. The head has a row for each token: V × C = {right:,}.",
}
