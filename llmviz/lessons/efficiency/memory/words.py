"""All that the chapter "Training memory" says. Names in braces: live numbers."""

TITLE = "What a training step keeps in memory"
TEXT = (
    "A model that only writes needs its weights. A model that learns needs more. It needs a "
    "[[gradient]] for each weight, and what the optimizer keeps: AdamW keeps two averages for each "
    "weight. It also needs the [[activations]], which are results of the forward pass that the "
    "backward pass uses again. Here one real step is made with AdamW on a copy of the model, "
    "without dropout, on the first stories of tiny-world. torch reports every tensor that is made "
    "and every one that is freed. Move the pointer over the picture, or use the arrow keys."
)
ROWS = "Texts in the batch"
TOKENS = "Tokens of each"
PIECES = "Micro-batches"
PIECES_HELP = (
    "The batch goes through in so many parts, one after the other. Their gradients add up."
)
RECOMPUTE = "Keep the input of every … blocks"
RECOMPUTE_HELP = "0 keeps everything. Otherwise the rest is computed again in the backward pass."
KINDS = {
    "weights": "weights",
    "averages": "AdamW's averages",
    "gradients": "gradients",
    "activations": "activations",
    "batch": "batch and fixed tables",
    "temporary": "temporary",
}
PHASES = {
    "forward": "forward",
    "again": "forward again",
    "backward": "backward",
    "update": "update",
}
PARTS = {
    "inputs": "embeddings",
    "norm_final": "last norm",
    "head": "head",
    "loss": "loss",
    "": "all weights",
}
BLOCK = "block {layer}"
PICTURE = {
    "name": "Bytes that are alive from operation to operation of one training step",
    "across": "operations that take memory, in their order",
    "peak": "peak: {size}",
    "at": "{phase}, {part}: after “{operation}”",
    "start": "Before the first operation",
    "all": "{size} are alive",
    "more": "{count} more",
    "hint": "Listed are the largest tensors alive. Click, or press Enter, to keep a moment.",
}
OPERATIONS = {
    "addmm": "matrix product",
    "mm": "matrix product",
    "bmm": "matrix products",
    "baddbmm": "matrix products",
    "native_layer_norm": "layer norm",
    "_fused_rms_norm": "RMS norm",
    "_scaled_dot_product_flash_attention_for_cpu": "attention",
    "embedding": "look-up",
    "embedding_dense": "look-up",
    "add": "sum of two",
    "sum": "sum of rows",
    "mul": "product of two",
    "_log_softmax": "logarithm of softmax",
    "_log_softmax_backward_data": "backward of logarithm of softmax",
    "nll_loss_forward": "loss",
    "nll_loss": "loss",
    "cat": "putting together",
    "clone": "copy",
    "_to_copy": "copy",
    "update": "update",
}
BACKWARD_OF = "backward of {operation}"
MADE_BY = "{operation}, {part}, {shape}"
PARAMETER = "{name}, {shape}"
GRADIENT = "gradient of {name}, {shape}"
AVERAGES = {
    "exp_avg": "mean gradient of {name}, {shape}",
    "exp_avg_sq": "mean squared gradient of {name}, {shape}",
    "step": "step counter of {name}",
}
BATCH = "token ids or targets, {shape}"
NUMBER = "one number"
PEAK_TOLD = (
    "**Measured:** at the peak {peak} are alive, {when}. The largest kind there: {kind}, with "
    "{share}. After the step, weights, averages and gradients are still there: {rest}."
)
WHEN = "in the part “{phase}, {part}”"
TABLE_COLUMNS = ("what", "measured, bytes", "formula, bytes", "measured − formula", "formula")
TABLE_ROWS = {
    "weights": ("weights", "4 · N"),
    "gradients": ("gradients, at the end", "4 · N"),
    "averages": ("AdamW's averages", "8 · N"),
    "activations": ("activations, after the first forward pass", "4 · B · T · A"),
}
PEAK_ROW = ("all, at the peak", "16 · N + 4 · B · T · A")
TABLE_READ = (
    "N is {parameters:,} parameters; B is {rows}, the texts that go through first; T is {tokens} "
    "tokens; A is {each:,} numbers kept for each token. A number takes 4 bytes in float32. {rest}"
)
TABLE_PEAK = (
    "The peak is not the sum of the four. Gradients are made while activations are freed. "
    "Temporary tensors, the batch and fixed tables (such as the mask) take memory, too."
)
TABLE_EXACT = (
    "The rest: AdamW counts the steps of each tensor (4 bytes each), and the loss keeps one number."
)
TABLE_ABOUT = (
    "For a model of this form A is an estimate. Which tensors torch keeps depends on the form, so "
    "what is measured can differ from it."
)
KEPT_TITLE = "What is kept for each token, tensor by tensor"
KEPT = {
    "norm_inputs": "inputs of the two norms",
    "norm_outputs": "outputs of the two norms",
    "norm_statistics": "mean and deviation of each norm",
    "qkv": "queries, keys, values",
    "attention_output": "output of attention",
    "attention_sums": "attention: logarithm of each sum, one a head",
    "hidden": "feed-forward, before the activation function",
    "activated": "feed-forward, after it",
    "last_norm": "last norm: input, output, mean and deviation",
    "log_probabilities": "logarithms of all probabilities",
}
KEPT_COLUMNS = ("kept for the backward pass", "numbers a token", "in layers", "numbers in all")
KEPT_NOTE = (
    "Korthikanti et al. 2022, “Reducing Activation Recomputation in Large Transformer Models”, "
    "count in this way (section 4.1). With fused attention the attention weights are not kept."
)
ONCE = "once"

ASK = (
    "This model has N = {n:,} parameters in float32, 4 bytes each. AdamW keeps two averages for "
    "each parameter. How many bytes do weights, gradients and averages take together?"
)
ASK_RIGHT = (
    "4 for the weight, 4 for its gradient, 4 + 4 for the averages: 16 · N = {right:,} bytes."
)
ASK_WRONG = {
    "weights": "That is the weights alone: 4 · N.",
    "averages": "That is the averages alone: 8 · N. Weights and gradients are there, too.",
    "one": "That has one average. AdamW keeps one of the gradients and one of their squares.",
    "master": "Those are five numbers for each parameter: one more than there are.",
}

WAYS_TITLE = "The same step with less memory"
WAYS_TEXT = (
    "**[[gradient checkpointing|Gradient checkpointing]]** keeps only the input of every k blocks. "
    "When the backward pass comes to a group of k blocks, its forward pass is run again. "
    "**Accumulation** splits the batch into [[micro-batch|micro-batches]]: each goes forward and "
    "backward by itself, and the gradients add up. Both lead to the same update, up to rounding. "
    "The button tries each way on the model and the batch above: it counts the bytes and measures "
    "the time of a step. The ways take turns, so that a busy machine slows all of them alike."
)
WAYS_START = "Try all ways"
WAYS_GOES = "Counting and measuring …"
WAYS_STOPPED = "The measuring was stopped. Below is how far it came."
WAYS_AGAIN = "Measure again"
WAY_PLAIN = "keep everything"
WAY_RECOMPUTE = "input of every block"
WAY_RECOMPUTE_GROUPS = "input of every {every} blocks"
WAY_PIECES = "{pieces} micro-batches"
WAYS_COLUMNS = (
    "way",
    "peak, bytes",
    "activations at most, bytes",
    "milliseconds a step",
    "times as long",
    "largest difference of a gradient",
)
WAYS_TIMES = WAYS_COLUMNS[3:5]  # which are there once all ways are measured
PEAK_AXIS = "MB alive at the peak"
TIME_AXIS = "milliseconds of a step"
WAYS_READ = (
    "Of the ways with recomputing, none has a lower peak than “{way}”: {peak}, {share} of the "
    "{plain} without it. A step takes {ratio:.2f} times as long. {equal}"
)
EQUAL = "All gradients are the same as with “keep everything”, bit for bit."
NOT_EQUAL = (
    "The gradients differ from those of “keep everything” by at most {difference} of the largest "
    "number in them. For comparison: float32 rounds a number by up to 6·10⁻⁸ of it."
)
WAYS_PIECES = (
    "In {pieces} micro-batches the peak is {peak}, and a step takes {ratio:.2f} times as long. "
    "{equal}"
)
WAYS_NOTE = (
    "Measured on this machine, on one thread: the time that the processor spent on this work "
    "alone, in the shortest of {rounds}."
)
WAYS_COMMAND = (
    "Training takes both as options: `python -m llmviz train … --recompute 1 --accumulate 4`."
)
RECOMPUTE_ASK = (
    "The backward pass of a block takes about twice the arithmetic of its forward pass. All blocks "
    "are computed a second time. By how much does the arithmetic of the blocks grow?"
)
RECOMPUTE_ANSWERS = ("by a third", "by a half", "it doubles", "not at all")
RECOMPUTE_REASONS = (
    "Without it, forward and backward are 1 + 2 = 3 parts. One more forward pass makes it 4.",
    "The forward pass is run a second time, which is one part more to 1 + 2 = 3 parts.",
    "Only the forward pass is run a second time, not the backward pass.",
    "What was thrown away has to be computed again, which takes time instead of memory.",
)

PAPER_TITLE = "Any model, on paper"
PAPER_TEXT = (
    "The same kinds of memory for any model, also for one that does not fit on this machine. "
    "Choose a shape or type your own. No model is built. Temporary tensors of a step are not in "
    "the sum, so leave room for them."
)
SHAPE = "Shape"
PAPER = {
    "paperlayers": "Layers",
    "paperheads": "Heads",
    "paperwidth": "Width C",
    "papervocab": "Vocabulary V",
    "paperrows": "Texts in a batch",
    "papertokens": "Tokens of each",
    "paperrecompute": "Keep the input of every … layers",
    "paperpieces": "Micro-batches",
}
DTYPE = "Numbers"
DTYPE_NAMES = {
    "float32": "float32, 4 bytes",
    "bfloat16": "bfloat16 with a float32 copy of the weights",
}
OPTIMIZER = "Optimizer"
OPTIMIZERS = {
    "adamw": "AdamW",
    "adam": "Adam",
    "rmsprop": "RMSprop",
    "adagrad": "Adagrad",
    "momentum": "SGD with momentum",
    "sgd": "SGD",
}
ATTENTION = "Attention"
ATTENTIONS = {"fused": "fused: attention weights not kept", "explicit": "explicit: kept"}
GB = "Memory of the machine, GB"
FORM = "Feed-forward width: {hidden:,}. Heads of keys and values in a layer: {kv_heads:,}."
PAPER_KINDS = {
    "weights": "weights",
    "gradients": "gradients",
    "averages": "optimizer",
    "master": "float32 copy of the weights",
    "activations": "activations",
}
PAPER_READ = (
    "**{parameters:,} parameters** and {tokens:,} tokens a step take about **{total}**: {shares}. "
    "{verdict}"
)
SHARE = "{name} {share}"
FITS = "That fits into {gb}, with {left} to spare."
FITS_NOT = "That does not fit into {gb}: {over} are missing."
PAPER_SOURCES = (
    "Bytes of weights, gradients and optimizer: Rajbhandari et al. 2020, “ZeRO”, section 3.1. "
    "Activations of a layer: Korthikanti et al. 2022, section 4.1, without dropout; after the last "
    "layer the logits and their softmax are counted, each with V numbers for a token. Recomputing: "
    "Chen et al. 2016, “Training Deep Nets with Sublinear Memory Cost”. 1 GB is 10⁹ bytes."
)
