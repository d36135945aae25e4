"""All that the chapter "Quantization" says. Names in braces: live numbers."""

TITLE = "Fewer bits for each weight"
TEXT = (
    "A trained weight is a number of 32 or 16 bits. **[[quantization|Quantization]]** puts the "
    "weights on a grid of a few values and keeps the number of the value, its [[code "
    "(quantization)|code]], in 2 to 8 bits. The model takes less memory, and less has to be read "
    "for each token. The price is a rounding error in most weights. What does that cost in loss? "
    "Here you see it on the model {model}: on one row first, then on the whole model. At the end a "
    "small model is trained with rounded weights."
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
        "{highest}. The step s is the largest |w| of the weights that share it ÷ {highest}. A "
        "weight w becomes the code round(w ÷ s), and the code becomes the weight code · s again."
    ),
    "asymmetric": (
        "An **asymmetric** grid reaches from the smallest to the largest of the weights that share "
        "its step, and to 0 where all have one sign. With {bits} bits its codes go from 0 to "
        "{highest}. The step s is (upper end − lower end) ÷ {highest}, and the [[zero point]] z is "
        "the code of the weight 0. A weight w becomes the code round(w ÷ s) + z, and the code "
        "becomes the weight (code − z) · s again."
    ),
}
STEP_KEPT = (
    "The step itself is kept as float16, rounded up. Where all weights that share a step are 0, it "
    "is 1. With this choice a weight of this matrix takes {bits:.2f} bits in all, with its share "
    "of {kept}."
)
SYMMETRIC_KEPT, ASYMMETRIC_KEPT = "the steps", "the steps and zero points"

ASK = (
    "A grid is {form} and has codes of {bits} bits. How many different values can the weights that "
    "share its step have after rounding?"
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
    "Each row of a matrix makes one number of its output. These are some weights of a row, from "
    "the weight to its code and back. Point at a cell to see its arithmetic; a click keeps it. The "
    "column in bold is that of the weight that you can enlarge below."
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
WEIGHT = "Column"
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
    "weights": "the weight in row {row}, column {column}{times}: {weights}",
    "scale": "the step that this weight shares with {shared:,} other weights: {scale}",
    "divided": "w ÷ s = {weights} ÷ {scale} = {divided}",
    "rounded": "the whole number nearest to {divided} is {rounded}",
    "shifted": "{rounded} + z = {rounded} + {zero_point} = {shifted}",
    "codes": "{shifted}, kept between {lowest} and {highest}, is the code {codes}",
    "restored": "code · s = {codes} · {scale} = {restored}",
    "error": "back − w = {restored} − {minus} = {error}; half a step is {half}",
}
NOTE_TIMES = ", multiplied by {times}"
NOTE_HALF = "{divided} lies halfway between two whole numbers; it goes to the even one, {rounded}"
NOTE_RESTORED_ZERO = "(code − z) · s = ({codes} − {zero_point}) · {scale} = {restored}"
LINE_NAMES = ("weights", "values of the grid", "the weight to enlarge")
LINE_AXIS = "value"
LINE_ROWS = ("grid", "weights")
LINE_READ = (
    "Above: the {count} weights of this row that share a step with column {column}. Below: the "
    "values of their grid. A line leads from each weight to the value that it gets. They use "
    "{used} of the {codes} codes, and the mean size of their errors is {error}, or {share} of a "
    "step."
)

OUTLIER_TITLE = "One large weight"
OUTLIER_TEXT = (
    "The grid must reach the largest weight that shares its step. Enlarge one weight. Once it is "
    "the largest of them, the values of the grid move apart, and fewer of them lie near the small "
    "weights."
)
TIMES = "Multiply the weight in column {column} by"
DAMAGE = (
    "This is the same matrix with that weight multiplied by {times}, rounded in {ways} ways to "
    "{bits} bits. The numbers say how large the error of the other weights is on average, as a "
    "share of the typical weight (the root mean square of all others). A group here is {group} "
    "neighbours in a row; the first group begins at column 0."
)
DAMAGE_COLUMNS = ("one step for", "same group", "rest of its row", "all other rows")
DAMAGE_READ = (
    "For the weights of all other rows the mean error is {tensor} with one step for the matrix, "
    "and {channel} with a step for each row. For the rest of the same row it is {row} with a step "
    "for each row, and {grouped} with groups. One large weight widens only the step that it "
    "shares: with a step for each row, that of its row; with groups, that of its group."
)
NO_OTHERS = "—"

LAYERS_TITLE = "Error by matrix"
LAYERS_TEXT = (
    "Here each matrix of the model is rounded by itself, while all others stay exact. Its name "
    "begins with the number of its layer. The first bar is the error of its weights: the size of "
    "the change as a share of the size of the matrix. The second bar is the same for its outputs "
    "on your text, which are what the rest of the model gets. Size here is the square root of the "
    "sum of squares."
)
METHOD = "Before rounding"
METHODS = {"rounding": "nothing", "awq": "scale by activations"}
AWQ_TEXT = (
    "**Activation-aware scaling** (AWQ, Lin et al. 2023) looks at what comes into a matrix. Some "
    "inputs are large on real text, and errors in their columns count most. Each column is "
    "multiplied by a factor, and what comes into it is divided by the same factor, in the layer "
    "before. The function stays the same; only the rounding changes. The factor is the mean size "
    "of the input to the power α, up to a constant for the whole matrix. α lies between 0 (no "
    "scaling) and 1. For each matrix it is chosen so that the error of its outputs is smallest on "
    "other stories: {texts} of them, at most {tokens:,} tokens. The second matrix of the "
    "feed-forward is not scaled, since an activation function stands before it."
)
TEXT_LABEL = "Your text"
STORY = (
    "One winter morning, Otto Thistleton the archer woke up happy. The best friend he had was "
    "Esme Saffronfield, a famous vet. They met at the market."
)
EMPTY = "There is no text yet. Type something above."
LAYERS_NAMES = ("weights", "outputs on your text")
LAYERS_AXIS = "error, share of the exact size"
LAYERS_READ = (
    "The outputs of {worst} have the largest error: {most}. The smallest is {least}, of {best}. "
    "In the model as it is, row {row} of {outlier} holds the weight that is largest compared with "
    "the typical weight (the root mean square) of its matrix: {times:.1f} times as large."
)
SHOW_ROW = "Show that row"

LOSS_TITLE = "Loss and size"
LOSS_TEXT = (
    "The loss of the whole model with the {matrices} matrices of its blocks rounded, on "
    "{documents} new stories ({tokens:,} tokens). The grammar that wrote them has a loss of "
    "{floor:.3f} nats per token on them, and no model can expect a lower one. The chart shows how "
    "far above this floor each way stays. The dotted line is the model with nothing rounded, "
    "{above:.3f} nats per token above the floor. The curves were measured once, by the command "
    "`{command}`."
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
    "steps",
    "loss, nats per token",
    "difference from exact, nats per token",
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
        "{group} is {scaled:.4f} with it, and {plain:.4f} without. α is chosen by the error of "
        "each matrix, not by the loss of the whole model."
    ),
    0: "With or without scaling by activations, the loss of groups of {group} is {plain:.4f}.",
}
ABOUT_SIZE = (
    "All else (embeddings, head, norms and biases) stays as float16: {rest:,} bytes. So the whole "
    "model shrinks by a smaller factor than its matrices do."
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
    "codes": (
        "That is 16 ÷ {bits}, for codes alone. Steps take bits, too, and not everything is rounded."
    ),
    "square": "For that, a weight would need fewer bits than its code has.",
    "same": "The matrices take fewer bytes, so the whole model takes fewer, too.",
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
    "model takes {total:,} bytes, {matrices:,} of them for its matrices."
)

TEXTS_TITLE = "What it writes now"
TEXTS_TEXT = (
    "Both models continue your text by up to {tokens} tokens, always with the most probable one. "
    "The texts stay the same as long as rounding does not change which token that is. After the "
    "first different token each model continues a text of its own."
)
MODELS = ("nothing rounded", "with your setting")
NOTHING = "(nothing: it ends the text at once)"
SAME = "Both wrote the same."
DIFFERENT = {
    "none": "They differ from the first character on.",
    "one": "Only the first character is the same.",
    "some": "The first {count:,} characters are the same.",
}

SPEED_TITLE = "Is it faster?"
SPEED_TEXT = (
    "Fewer bytes to read can make a product faster, if the processor has a program for such codes, "
    "a [[kernel (program)|kernel]]. On the processor, torch has one for int8 (a step for each row) "
    "and one for int4 (a step for each group of {groups} weights). For other numbers of bits it "
    "has none: such codes must be turned back into float32 before the product. In this chapter "
    "the losses and texts of rounded models are computed in float32. Here you can measure the "
    "product of one token's vector with a square matrix, on the machine that serves this page."
)
SPEED_START = "Measure here"
SPEED_AXES = ("width of the matrix", "times as fast as float32")
SPEED_NAMES = {"int8": "int8", "int4": "int4"}
SPEED_LEVEL = "float32"
SPEED_READ = (
    "At a width of {width:,}: float32 takes {float32:.3f} ms for a product, {others}. The time is "
    "the mean of {repeats} products, in the quickest of {rounds} rounds. Other work on the machine "
    "changes it."
)
SPEED_ONE = "{kind} {ms:.3f} ms ({times:.2f} times as fast)"
SPEED_NONE = "{kind} has no kernel in this torch"
