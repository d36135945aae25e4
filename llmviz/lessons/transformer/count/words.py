"""All that the chapter "Counting" says. Names in braces are filled in with live numbers."""

TITLE = "Where the parameters are"
TEXT = (
    "A model's size follows from a few settings. Choose a published shape or type your own: each "
    "matrix is counted, and no model is built for it."
)
SHAPE = "Shape"
LABELS = {
    "layers": "Layers",
    "heads": "Heads",
    "kv": "Heads of keys and values (0: as many)",
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
USED = ", of which a token meets {used:,}: it is sent to {sent} of {experts} experts in each layer"
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
    "Bytes are parameters times bytes a number. Training with AdamW also holds a gradient for each "
    "parameter, two running averages and the numbers that the backward pass needs again."
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
    "activations": "numbers kept of a token for the backward pass",
    "flops": "operations for the next token, with a full context",
    "token": "cache of one token, in {stored}",
    "cache": "cache of one full context, in {stored}",
}
HELD = (
    "**Counted on a real training.** A model of the shape “{shape}” made one step with AdamW in "
    "float32. The optimizer then holds {averages:,} bytes of running averages for {parameters:,} "
    "parameters: {each:.2f} bytes a parameter. With weights and gradients it is {all:.2f}."
)
NOTE = (
    "Operations: a product and its addition count as two; norms, activations and softmax are left "
    "out. Activations are counted as fused attention keeps them."
)
SMALL_TITLE = "A small example: 17,516"
SMALL_TEXT = (
    "The decoder of a small translator: 12 tokens, width 32, 8 heads of 4, feed-forward width 128, "
    "one layer, no biases in attention. It has a second attention, which looks at the source. Its "
    "tensors add up to **{total:,}**."
)
QUESTION = (
    "In the settings above, the output head is {state}. With these sizes, how many parameters "
    "fewer has a model whose output head is the token embedding than one whose output head is a "
    "matrix of its own?"
)
TIED = "the token embedding"
UNTIED = "a matrix of its own"
RIGHT = "The output head's matrix has V × C = {vocab:,} × {width:,} = {right:,} numbers."
WRONG = {
    "block": "That is one whole block. The head has V × C = {right:,} numbers.",
    "context": "That is context × C. The head has a row for each token: V × C = {right:,}.",
    "square": "That is C × C. The head has a row for each token: V × C = {right:,}.",
}
