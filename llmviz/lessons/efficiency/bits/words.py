"""What the chapter "Numbers as bits" says of numbers, sums, gradients and updates."""

from llmviz.lessons.efficiency import LESSON

TITLE = LESSON.title_of("bits")
TEXT = (
    "A model is made of numbers, and each number is a row of bits. With fewer bits a model takes "
    "less memory and often computes faster, but it can hold fewer different numbers. Here you see "
    "which numbers each format has, what it rounds away, and how training copes with that."
)

# --- one number

BOARD_TITLE = "One number in seven formats"
BOARD_TEXT = (
    "A [[floating-point number]] has three groups of bits: the **sign**, the **exponent** e and "
    "the **mantissa**, the digits m after the point. Its value is sign × 2ᵉ × 1.m. The exponent's "
    "bits, read as a whole number, are e plus a fixed number, the bias: 15 in float16. Where all "
    "of them are 0 the value is sign × 2ᵉ × 0.m with the lowest e: a [[subnormal number]], or 0. "
    "Integers hold whole numbers only; for a weight of a model they are multiplied by a scale. "
    "**Press a bit to flip it**: all formats then show the new number."
)
SOURCE = "The number"
SOURCES = {"typed": "I type it", "weight": "a weight of a model"}
NUMBER = "Number"
NUMBER_HELP = "Such as 0.1, −3e-5, inf or nan"
MODEL, MATRIX, ROW, COLUMN = "Model", "Matrix", "Row", "Column"
NOT_A_NUMBER = "{problem}. {number} is shown instead."
PATTERN_LOST = "The flipped bits of the link cannot be shown: {problem}."
NO_MATRIX = "{model} has no matrix to take a weight from."
TYPED_INSTEAD = "The typed number is shown instead: {number}."
STORED_16 = (
    "The file of this model holds its weights in float16, so float16 shows this weight without an "
    "error."
)
SCALED = (
    "As a whole number, each weight between −½ and ½ would become 0. So an integer is multiplied "
    "by a **scale** here: the largest magnitude in the matrix, {largest}, divided by the largest "
    "integer. The chapter on quantization goes on from there."
)
LABELS = {
    "float32": ("float32", "1 + 8 + 23 bits"),
    "float16": ("float16", "1 + 5 + 10 bits"),
    "bfloat16": ("bfloat16", "1 + 8 + 7 bits: the range of float32, fewer digits"),
    "float8_e4m3": ("float8 e4m3", "1 + 4 + 3 bits, no infinity"),
    "float8_e5m2": ("float8 e5m2", "1 + 5 + 2 bits"),
    "int8": ("int8", "8 bits, two's complement"),
    "int4": ("int4", "4 bits, two's complement"),
}
BOARD = {
    "number": "The number: {value}",
    "flipped": "Flipped in {format}: {value}",
    "reset": "Back to the number",
    "groups": {
        "sign": "sign",
        "exponent": "exponent",
        "mantissa": "mantissa",
        "integer": "integer",
    },
    "bit": "bit {number} of {all}, {group}: {set}",
    "none": "holds no NaN",
    "special": {
        "infinite": "exponent all 1, mantissa 0: infinity",
        "nan": "this pattern means NaN: not a number",
    },
    "fates": {
        "exact": "exact",
        "rounded": "error {error}, or {share} %",
        "vanishes": "vanishes: it becomes 0",
        "overflows": "out of range: it becomes {value}",
    },
    "spacing": "next number, further from 0: {spacing} away",
}
LIMITS_TITLE = "What each format can hold"
LIMITS = ("format", "bits", "largest", "smallest normal", "smallest above 0", "from 1 to the next")
LIMITS_NOTE = (
    "float8 e4m3 has no infinity. A number that is too large becomes ±448 here, as in torch. Some "
    "hardware turns it into NaN instead."
)
GAP_ASK = "How far is it from {number} to the next larger number of float16?"
GAP_REASONS = {
    "right": (
        "float16 has 10 bits of mantissa. Between 2ᵉ and the next power of two it has 1,024 "
        "numbers, so they are 2ᵉ ÷ 1,024 apart; here e = {power}."
    ),
    "half": "That is the largest rounding error: half of the distance.",
    "bfloat16": (
        "That is the distance between bfloat16's numbers of this size: it has 7 bits of mantissa."
    ),
    "float32": (
        "That is the distance between float32's numbers of this size: it has 23 bits of mantissa."
    ),
}

# --- sums

SUM_TITLE = "Sums that lose their small parts"
SUM_TEXT = (
    "A sum must be rounded to a number of the format. If what is added is less than half of the "
    "distance to the next number, the sum stays what it was, however often you add. Here the same "
    "small number is added again and again to a large one. Torch adds them in the format itself, "
    "but not in float8: there each sum is computed in float32 and rounded to float8."
)
SUM_LARGE, SUM_SMALL, SUM_ADDED = "Begin with", "Add again and again", "Additions"
LARGE = ("1", "16", "256", "2048")
SMALL = ("0.1", "0.01", "0.001", "0.0001")
SUM_AXES = ("additions", "sum so far")
SUM_EXACT = "exact"
SUM_COLUMNS = (
    "format",
    "begins with",
    "adds",
    "one by one",
    "in pairs",
    "exact, of these",
    "stands still after",
)
NEVER = "–"
SUM_NOTE = (
    "**In pairs** adds neighbours first, then the sums of neighbours, and so on: most sums that "
    "meet are of like size. **Exact, of these** is the true sum of the rounded numbers that the "
    "format holds. 2048 is too large for float8 e4m3, which then begins with its largest number, "
    "448. A sum that stands still gets no larger, however often you add. A mean loss and a dot "
    "product are long sums, too. So hardware that multiplies matrices of 16 bits often adds up in "
    "float32."
)
SUM_ASK = "In bfloat16, what is {large} + {small}, added once?"
SUM_REASONS = {
    "right": (
        "bfloat16 holds {small} as {held}. The next number above {large} is {spacing} away. The "
        "sum is rounded to the nearest number, which is {right}."
    ),
    "stays": "It would stay {large} if {held} were less than half of the distance, {spacing}.",
    "next": "That is the next number above {large}; the sum is not nearest to it.",
    "exact": "That is the exact sum. bfloat16 has no such number.",
}

# --- gradients

GRADIENT_TITLE = "Gradients that are too small for float16"
GRADIENT_TEXT = (
    "In [[mixed precision]] the large products are computed in 16 bits, while weights, their "
    "gradients and the optimizer's state stay in float32. float16 has only 5 bits of exponent: "
    "below {normal} it has fewer digits, and a number that is not above {vanish} becomes 0. Below "
    "are the gradients of one real step of the model on its own corpus, computed in float32: "
    "{counted}. The loss is {loss} nats, the mean over {tokens}."
)
GRAD_MODEL, GRAD_OF = "Model", "Gradients of"
GRADIENTS_OF = {"activations": "activations", "weights": "weights"}
COUNTED = {
    "activations": "{count:,} gradients of the values that leave its layers",
    "weights": "{count:,} gradients of its weights",
}
SCALE = "Loss scale, as a power of 2"
SCALE_NONE = (
    "At 2⁰ = 1 the loss is as it is. A larger **loss scale** multiplies the loss, and with it "
    "every gradient: move the slider."
)
SCALE_NOW = (
    "The loss is multiplied by {scale}, so every gradient is, too. A power of two changes only the "
    "exponent. The bars move by {power} to the right, exactly; nothing has to be computed again."
)
FATES = {
    "vanish": "becomes 0",
    "subnormal": "subnormal",
    "normal": "normal",
    "overflow": "infinite",
}
POWER_AXES = ("gradient × scale, as a power of 2", "gradients")
FATE_READ = (
    "What happens to these gradients in float16 at this scale, and to how many of them. Becomes 0: "
    "**{vanish}**; subnormal: {subnormal}; normal: {normal}; becomes infinite: {overflow}; 0 "
    "already in float32: {zero}. Of those that are not 0 in float32, **{lost}** are lost: they "
    "become 0 or infinite. The smallest gradients may come from rounding alone: with exact numbers "
    "they would be 0. bfloat16 has the exponents of float32, so it usually needs no scale."
)
SCALE_ASK = (
    "By which power of two must the loss be multiplied at least, so that no gradient becomes 0 in "
    "float16 that is not 0 in float32?"
)
SCALE_RIGHT = (
    "The smallest gradient that is not 0 is {smallest}. Times 2{power} it is above {vanish}, half "
    "of the smallest number of float16; with the next lower power it is not."
)
SCALE_RIGHT_NONE = "Without any scale the smallest, {smallest}, is above {vanish} already."
SCALE_LOW = "Then the smallest gradient, {smallest}, would still become 0."
SCALE_HIGH = "That is enough, and more than is needed. The smallest gradient is {smallest}."
NO_GRADIENT = "Every gradient of this step is 0 in float32, so there is nothing to ask."

# --- updates

UPDATE_TITLE = "Updates that change nothing"
UPDATE_TEXT = (
    "Suppose the weights themselves were held in 16 bits. An update of Adam is usually about as "
    "large as the [[learning rate]] or smaller. A weight changes only if its update is about half "
    "of the distance to the next number or more. Otherwise w − update is rounded back to w. These "
    "are the weights of the same model and one update of Adam, with averages over the gradients of "
    "{batches} real batches. The bars show each update, divided by the **distance** from its "
    "weight to the next number. Move the learning rate."
)
RATE, UPDATED = "Learning rate", "Weights held in"
RATES = ("0.03", "0.01", "0.003", "0.001", "0.0003", "0.0001", "0.00003", "0.00001")
UPDATED_IN = {"float32": "float32", "bfloat16": "bfloat16", "float16": "float16"}
UPDATE_AXES = ("update ÷ distance, as a power of 2", "weights")
UPDATE_NAMES = ("under a half", "a half or more")
UPDATE_READ = (
    "At a learning rate of {rate}, **{lost}** of {weights} with an update other than 0 stay as "
    "they are in {format}; in {others}."
)
UPDATE_OTHER = "{format} it is {lost}"
UPDATE_WHY = (
    "That is why training in 16 bits usually keeps a **master copy** of the weights in float32. "
    "Small updates add up there, until the rounded 16-bit weight changes, too."
)
OPTIMIZERS = "Descent: how Adam makes its updates"
LOST_AXES = ("learning rate", "share of weights that stay")
UPDATE_ASK = (
    "At a learning rate of {rate}, which share of these weights stays as it is in bfloat16?"
)
UPDATE_REASONS = {
    "bfloat16": "Counted: w − update, rounded to bfloat16, is w again.",
    "float16": (
        "That is the share in float16, which has 10 bits of mantissa. bfloat16 has 7 of them."
    ),
    "float32": "That is the share in float32, with 23 bits of mantissa.",
    "other": "The count gives another share: see the figures below.",
}
