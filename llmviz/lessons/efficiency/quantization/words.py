"""All that the chapter "Quantization" says. Names in braces: live numbers."""

TITLE = "Fewer bits for each weight"
TEXT = (
    "A trained weight is a number of 32 or 16 bits. **[[quantization|Quantization]]** puts the "
    "weights on a grid of a few values and keeps the number of the value, its [[code "
    "(quantization)|code]], in 2 to 8 bits. The model takes less memory, and less has to be read "
    "for each token. The price is a rounding error in every weight. What does that cost in loss? "
    "Here you see it on the model {model}: on one row first, then on the whole model. At the end a "
    "small model learns to live with few bits."
)
VIEW = "Look at"
VIEWS = {"row": "one row", "model": "the whole model", "training": "training on the grid"}
BITS = "Bits of a code"
FORM = "Grid"
FORMS = {"symmetric": "symmetric", "asymmetric": "asymmetric"}
PER = "One step for"
PERS = {"tensor": "the whole matrix", "channel": "each row", "group": "each group in a row"}
GROUP = "Weights in a group"
GROUPS = {"8": "8", "16": "16", "32": "32", "64": "64", "96": "96"}
SCHEME = {
    "symmetric": (
        "A **symmetric** grid has 0 in its middle. With {bits} bits its codes go from {lowest} to "
        "{highest}. The step s is the largest |w| ÷ {highest}. A weight w becomes the code "
        "round(w ÷ s), and the code becomes the weight code · s again."
    ),
    "asymmetric": (
        "An **asymmetric** grid reaches from the smallest weight to the largest, or to 0 where all "
        "have one sign. With {bits} bits its codes go from 0 to {highest}. The step s is (largest "
        "− smallest) ÷ {highest}, and the [[zero point]] z is the code of the weight 0. A weight w "
        "becomes round(w ÷ s) + z, and the code becomes (code − z) · s again."
    ),
}
STEP_KEPT = (
    "The step itself is kept as float16, rounded up. With this choice a weight of this matrix "
    "takes {bits:.2f} bits in all, its share of the steps included."
)

ASK = (
    "A grid is {form} and has codes of {bits} bits. How many different values can the weights have "
    "that share its step?"
)
ASK_RIGHT = {
    "symmetric": (
        "{bits} bits can name 2^{bits} = {all} codes. A symmetric grid has as many below 0 as "
        "above, and 0 itself: an odd number, so one code is left out and {right} remain."
    ),
    "asymmetric": "{bits} bits can name 2^{bits} = {all} codes, and an asymmetric grid uses all.",
}
ASK_WRONG = "Count the whole numbers from the lowest code to the highest one."

ROW_TITLE = "One row, number by number"
ROW_TEXT = (
    "Some weights of a row of the model, from the weight to its code and back. Point at a cell to "
    "see its arithmetic; a click keeps it. The column in bold is that of the weight that you can "
    "enlarge below."
)
LAYER = "Layer"
MATRIX = "Matrix"
MATRICES = {
    "attn.qkv": "queries, keys, values",
    "attn.projection": "projection",
    "mlp.hidden": "feed-forward, first",
    "mlp.output": "feed-forward, second",
}
ROW = "Row"
WEIGHT = "Weight in the row"
GRID = "A row of weights at each step of its quantization"
STEPS = {
    "weights": "weight w",
    "scale": "step s",
    "divided": "w ÷ s",
    "rounded": "rounded",
    "shifted": "+ zero point z",
    "codes": "code",
    "restored": "back",
    "error": "error",
}
COLUMN = "w{column}"
NOTES = {
    "weights": "the weight in row {row}, column {column}: {w}",
    "scale": "the step that this weight shares with {shared} weights: {s}",
    "divided": "w ÷ s = {w} ÷ {s} = {divided}",
    "rounded": "the whole number nearest to {divided} is {rounded}",
    "shifted": "{rounded} + z = {rounded} + {z} = {shifted}",
    "codes": "{shifted}, kept between {lowest} and {highest}, is the code {code}",
    "restored": "{code_less} · s = {code_less} · {s} = {back}",
    "restored_zero": "(code − z) · s = ({code} − {z}) · {s} = {back}",
    "error": "back − w = {back} − {w} = {error}; half a step is {half}",
}
LINE_NAMES = ("weights", "values of the grid", "the weight to enlarge")
LINE_AXIS = "value"
LINE_ROWS = ("after", "before")
LINE_READ = (
    "Above: the {count} weights of this row that share a step with column {column}. Below: the "
    "values of their grid. A line leads from each weight to the value that it gets. They use "
    "{used} of the {codes} codes, and the mean size of their errors is {error}, or {share} of a "
    "step."
)

OUTLIER_TITLE = "One large weight"
OUTLIER_TEXT = (
    "The grid must reach the largest weight that shares its step. Enlarge one weight: the values "
    "of the grid move apart, and the small weights fall onto fewer of them."
)
TIMES = "Multiply the weight in column {column} by"
DAMAGE = (
    "The same matrix with that weight multiplied by {times}, rounded in three ways to {bits} bits. "
    "The numbers are the mean size of the error of other weights, as a share of the typical weight "
    "(the root mean square of all others). Weights in the same group are its neighbours: {group} "
    "weights of the row that begin at a multiple of {group}."
)
DAMAGE_COLUMNS = ("one step for", "same group", "rest of its row", "all other rows")
DAMAGE_READ = (
    "For the weights of all other rows the mean error is {tensor} with one step for the matrix, "
    "and {channel} with a step for each row. For the rest of the same row it is {row} with a step "
    "for each row, and {grouped} with groups. A smaller share of weights behind one step limits "
    "what one large weight can do."
)
NO_OTHERS = "—"

LAYERS_TITLE = "Error by matrix"
LAYERS_TEXT = (
    "Each matrix of the model rounded by itself. The error of its weights is the size of the "
    "change as a share of the size of the matrix. What counts is the second bar: how far its "
    "outputs are off on your text, as a share of the size of the outputs."
)
METHOD = "Before rounding"
METHODS = {"rounding": "nothing", "awq": "scale by activations"}
AWQ_TEXT = (
    "**Activation-aware scaling** (AWQ, Lin et al. 2023) looks at what comes into a matrix. Some "
    "inputs are large on real text, and errors in their columns count most. Those columns are "
    "multiplied by a factor, and the layer before is divided by it: the function stays the same, "
    "and the rounding changes. The factor of an input is its mean size to the power α; α is chosen "
    "for each matrix, on {texts} other stories. The second matrix of the feed-forward is not "
    "scaled, since an activation function stands before it."
)
TEXT_LABEL = "Your text"
STORY = (
    "One winter morning, Otto Thistleton the archer woke up happy. The best friend he had was "
    "Esme Saffronfield, a famous vet. They met at the market."
)
EMPTY = "There is no text yet. Type something above."
LAYERS_NAMES = ("weights", "outputs on your text")
LAYERS_AXIS = "error, share of the whole"
LAYERS_READ = (
    "The outputs of {worst} are off most: {most}. The least: {best} with {least}. The largest "
    "weight of the model's matrices as they are, measured by the typical weight of its matrix, is "
    "in row {row} of {outlier}: {times:.1f} times as large."
)
SHOW_ROW = "Show that row"

LOSS_TITLE = "Loss and size"
LOSS_TEXT = (
    "The loss of the whole model with all its {matrices} matrices rounded, on {documents} new "
    "stories ({tokens:,} tokens). No model can have a lower expected loss than the grammar that "
    "wrote them, {floor:.3f} nats per token; the chart shows how far above that floor each way "
    "stays. The dotted line is the model with nothing rounded, {above:.3f} nats above the floor. "
    "The curves were measured once, by the command `{command}`."
)
AXES_OF = {"bits": "bits of a code", "bytes": "bytes of the matrices"}
AXIS = "Across"
LOSS_AXIS = "loss above the floor, nats per token"
EXACT_LINE = "nothing rounded"
WAYS = {
    "tensor-rounding": "one step for the matrix",
    "channel-rounding": "a step for each row",
    "group-rounding": "a step for each {group}",
    "group-awq": "a step for each {group}, scaled by activations",
}
LOSS_COLUMNS = (
    "grid",
    "one step for",
    "loss, nats per token",
    "more than exact",
    "megabytes in all",
)
LOSS_READ = (
    "At {bits} bits the lowest loss of these {count} ways is {best:.4f} nats per token: {way}. The "
    "highest is {worst:.4f}: {other}."
)
AWQ_READ = {
    1: (
        "Scaling by activations lowers the loss of groups of {group} on the {form} grid from "
        "{plain:.4f} to {scaled:.4f}."
    ),
    -1: (
        "Scaling by activations does not help here: on the {form} grid the loss of groups of "
        "{group} is {scaled:.4f} with it, and {plain:.4f} without. α is chosen matrix by matrix, "
        "and the loss of the whole model is not asked."
    ),
    0: "With or without scaling by activations, the loss of groups of {group} is {plain:.4f}.",
}
ABOUT_SIZE = (
    "The embeddings, which are the head as well, and the norms stay as float16: {rest:,} bytes. So "
    "the whole model shrinks by less than its matrices do."
)
SIZE_ASK = (
    "The matrices of the blocks go from 16 bits to {bits}, with your choice of steps. All else "
    "stays at 16 bits. How many times smaller is the whole model?"
)
SIZE_ANSWER = "{times:.2f} times"
SIZE_RIGHT = (
    "It had {before:,} bytes. Now its matrices take {matrices:,} and the rest {rest:,}: {after:,} "
    "in all, and {before:,} ÷ {after:,} = {times:.2f}."
)
SIZE_WRONG = {
    "codes": "That is 16 ÷ {bits}, for codes alone: steps take bits, too, and not all is rounded.",
    "square": "That would take fewer bits than the codes have.",
    "same": "The matrices are smaller, so the model is.",
}
MEASURE_TEXT = (
    "**Your setting.** Measure the loss with just the choices above, on {documents} of the stories."
)
MEASURE = "Measure my setting"
GOING = "Measuring …"
STOPPED = "The measurement was stopped. Below is how far it came."
AGAIN = "Measure again"
MEASURED = (
    "On {documents} stories ({tokens:,} tokens): **{rounded:.4f} nats per token** with your "
    "setting, {exact:.4f} with nothing rounded; the floor of these stories is {floor:.4f}. The "
    "model takes {total:,} bytes, of which {matrices:,} are its matrices."
)

TEXTS_TITLE = "What it writes now"
TEXTS_TEXT = (
    "Both models continue your text, always with the most probable token. A small error in the "
    "logits changes nothing until two tokens are nearly as probable; from there on the texts go "
    "different ways."
)
MODELS = ("nothing rounded", "with your setting")
NOTHING = "(nothing: it ends the text at once)"
SAME = "Both wrote the same."
DIFFERENT = "The first {count} are the same."
CHARACTERS = ("character", "characters")

STAIR_TITLE = "A staircase has no slope"
STAIR_TEXT = (
    "Can a model learn to live with the grid? **Quantization-aware training** rounds the weights "
    "in every forward pass, so that the loss is that of the rounded model. But rounding is a "
    "staircase: its slope is 0 nearly everywhere, and no gradient comes through. The "
    "**[[straight-through estimator]]** goes backwards as if the staircase were the straight line: "
    "a weight gets the gradient of its rounded value. Beyond the last step, where weights are cut "
    "off, it gets 0."
)
STAIR_BITS = {"2": "2", "3": "3", "4": "4"}
STAIR_NAMES = ("forward: rounded weight", "the weight itself", "backward: gradient for 1")
STAIR_AXES = ("exact weight", "value")
WALK_TEXT = (
    "One weight learns this way. Its rounded value should come near {target:g}; the loss is "
    "½ (rounded − {target:g})². The exact weight collects small updates, and its rounded value "
    "jumps when it comes nearer to another value of the grid."
)
RATE = "Learning rate"
WALK_AXES = ("updates", "value")
WALK_NAMES = ("exact weight", "rounded weight", "target")
WALK_READ = (
    "At the first update w = {weight}, rounded {rounded}. The loss has the gradient {rounded} − "
    "{target} = {gradient} at the rounded weight. Straight through, w gets {through}, and becomes "
    "{weight} − {rate:g} · {operand} = {after}. The real slope of the loss at w, measured with a "
    "small step, is {slope}. After {updates} updates the rounded weight is {last}."
)
STAIR_ASK = (
    "The grid reaches from −1 to 1, and the gradient of the loss at a rounded weight is 0.6. Which "
    "gradient does the straight-through estimator give to an exact weight of {weight}?"
)
STAIR_ANSWERS = ("0", "0.6", "0.6 times the error of rounding")
STAIR_REASONS = {
    "inside": (
        "{weight} lies within the grid. Its real slope is 0, since a small change of it does not "
        "change the rounded value; straight through, it gets the whole 0.6."
    ),
    "beyond": (
        "{weight} was cut off at the end of the grid. There the gradient is stopped: it gets 0."
    ),
}

QAT_TITLE = "Train it on the grid"
QAT_TEXT = (
    "The model {model} is trained on in four ways at once: with 4, 3 and 2 bits, and without "
    "rounding for comparison. All begin at its trained weights. So the first point of each line is "
    "the loss of plain rounding after training, and the rest is what training on the grid makes of "
    "it. The loss is that of names that it does not learn from."
)
QAT_PER = {"tensor": "the whole matrix", "channel": "each row"}
UPDATES = "Updates"
QAT_START = "Train on the grid"
QAT_AXES = ("updates", "loss, nats per token")
QAT_NAMES = {0: "not rounded", 4: "4 bits", 3: "3 bits", 2: "2 bits"}
QAT_COLUMNS = ("model", "rounded after training", "trained on the grid", "seconds in updates")
QAT_READ = {
    "closer": (
        "With {bits} bits, rounding cost {before:.3f} nats per token at the start. At the end, "
        "against the training without rounding, {after:.3f} are left."
    ),
    "not": (
        "With {bits} bits, rounding cost {before:.3f} nats per token at the start, and at the end "
        "{after:.3f} against the training without rounding: these updates brought it no closer."
    ),
}

SPEED_TITLE = "Is it faster?"
SPEED_TEXT = (
    "Fewer bytes to read can make a product faster, if the processor has a program for such codes, "
    "a [[kernel (program)|kernel]]. On the processor, torch has one for int8 (a step for each row) "
    "and one for int4 (groups of 32 and more). For 3 and 2 bits it has none: such codes must be "
    "turned back into float32 before the product. For the texts above that was done once for each "
    "matrix, whatever its bits, so they were written no faster. Measure the product of one token's "
    "vector with a square matrix, on the machine that serves this page."
)
SPEED_START = "Measure here"
SPEED_AXES = ("width of the matrix", "times as fast as float32")
SPEED_NAMES = {"int8": "int8", "int4": "int4"}
SPEED_LEVEL = "float32"
SPEED_READ = (
    "At a width of {width:,}: float32 takes {float32:.3f} ms for a product, {others}. Measured "
    "just now; other work on the machine changes it."
)
SPEED_ONE = "{kind} {ms:.3f} ms ({times:.2f} times as fast)"
SPEED_NONE = "{kind} has no kernel in this torch"
