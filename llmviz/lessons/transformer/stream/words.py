"""All that the chapter "Reading the stream" says. Names in braces: live numbers."""

TITLE = "What the model would say after each layer"
TEXT = (
    "Every token has one vector that goes through all layers: the [[residual stream]]. This vector "
    "can be read early. Take it after any layer, and pass it through what normally comes after the "
    "last layer. This is the final norm, if the model has one, and the output head: the matrix "
    "that gives each token of the vocabulary a score. Then see which token is predicted. This is "
    "the [[logit lens]]. Each row is a depth, each column a token of your text. A cell shows what "
    "the model would say next. Click a cell to see its most probable tokens."
)
COLOUR = "Colour"
COLOURS = {
    "probability": "Probability",
    "entropy": "Entropy",
    "agreement": "Agreement with the end",
}
COLOUR_NOTES = {
    "probability": "Colour: the probability of the token that stands in the cell.",
    "entropy": (
        "Colour: the [[entropy]] of the whole prediction. Pale: one token is nearly certain. Full "
        "colour: all tokens are equally probable."
    ),
    "agreement": (
        "Colour: the probability that this depth gives to the token which the last layer says. "
        "Bold: it is the first choice here already."
    ),
}
SCALES = {
    "probability": ("0 %", "100 %"),
    "entropy": ("sure", "all equal: {most:.1f} nats"),
    "agreement": ("0 %", "100 %"),
}
GRID = "what each layer would say after each token"
EMBEDDINGS = "embeddings"
AFTER = "after layer {layer}"
OUTPUT = "after layer {layer}: output"
NOTE = "says {best} with {share}, entropy {entropy:.2f} nats, final answer {final} has {own}"
READ = (
    "After the last token, {last}, the model's answer is {best}, with {share}. {settled} In "
    "{early} of {tokens} the last row has the same first choice as the row above it."
)
TIED = (
    "In {same} of {tokens} the first row repeats the column's own token. In this model the output "
    "head is the embedding matrix. So the score of a token is the dot product of its own row with "
    "the vector that is read."
)
SETTLED_FIRST = "The embeddings alone already say it, and so does every row below them."
SETTLED = "It is the first choice from the row “after layer {layer}” on."
SETTLED_LAST = "The row above it still has another first choice."
OPENED = "The most probable tokens {point}, at {token}"
OPENED_AXIS = "probability"
POINT_EMBEDDINGS = "of the embeddings"
POINT = "after layer {layer}"
OPENED_TEXT = (
    "The vector of {token} {point} has {width} numbers. Through {through} they give a logit for "
    "each of {vocab:,} tokens; softmax makes probabilities of them. Their entropy is {entropy:.2f} "
    "nats; if all tokens were equally probable, it would be {most:.2f}."
)
THROUGH = {
    "pre": "the final norm and the output head",
    "post": "the output head",
    "none": "the output head",
}
OPENED_END = "This is the last layer: the same numbers as the model's output."
OPENED_BEFORE = (
    "The final answer at this place, {final}, has {own} here. The output head was trained to read "
    "only the last layer. Here it reads a vector of an earlier one."
)

LEDGER_TITLE = "Which parts made the next token"
LEDGER_TEXT = (
    "If layers only add to the stream, the last vector is a sum. Its parts are the embedding, what "
    "each attention head added and what each feed-forward layer added. If the model has them, the "
    "position and the biases are parts, too. A logit is this vector, after the final norm, times "
    "one row of the output head. So the logit is a sum as well, with one number for each part. "
    "Here it is taken at {token}, the column that is open above."
)
CREDIT = "Logit of"
AGAINST = "Minus the logit of"
NO_OTHER = "nothing"
PARTS_LABEL = "Show"
PARTS = {"all": "Every head", "layers": "Layers"}
SAME = "Both tokens are {token}: the difference is 0. Choose two different ones."
PART_NAMES = {
    "token": "token embedding",
    "position": "position",
    "head": "layer {layer} · head {head}",
    "attention": "layer {layer} · attention",
    "attention_bias": "layer {layer} · attention bias",
    "mlp": "layer {layer} · feed-forward",
    "mlp_bias": "layer {layer} · feed-forward bias",
    "norm_shift": "shift of the final norm",
}
TOTAL = "sum = logit"
TOTAL_DIFFERENCE = "sum = difference"
COLOURS_OF_PARTS = (
    "Grey: embeddings. Violet: attention. Green: feed-forward. Yellow: biases. Pale bars are "
    "negative."
)
LOGIT = "the logit of {token}"
DIFFERENCE = "the logit of {token} minus that of {against}"
LEDGER_READ = (
    "At {place}, {what} is **{logit}**. The parts add up to {total}. Most was added by {most} "
    "({most_value}), most was subtracted by {least} ({least_value})."
)
LEDGER_READ_UP = (
    "At {place}, {what} is **{logit}**. The parts add up to {total}. Most was added by {most} "
    "({most_value}); no part subtracted anything."
)
LEDGER_READ_DOWN = (
    "At {place}, {what} is **{logit}**. The parts add up to {total}. No part added anything; most "
    "was subtracted by {least} ({least_value})."
)
FROZEN = {
    "layer": (
        "**The frozen final norm.** The final layer norm divides the vector by its standard "
        "deviation, here {divisor:.3f}. This number depends on all parts together. Here each part "
        "is divided by it, as if it were fixed."
    ),
    "rms": (
        "**The frozen final norm.** The final RMS norm divides the vector by its root mean square, "
        "here {divisor:.3f}. This number depends on all parts together. Here each part is divided "
        "by it, as if it were fixed."
    ),
    "none": "This model has no final norm, so the parts are added as they are.",
}
CANNOT = (
    "This part needs a stream that is only added to, as in models with norms before attention and "
    "feed-forward. Choose another model above."
)
ASK = "Over all layers together: which kind of part adds most to {what} at {place}?"
KINDS = {
    "start": "the embedding, with that of the position if there is one",
    "heads": "the heads",
    "mlp": "the feed-forward layers",
    "biases": "biases, with the shift of the final norm",
}
ASK_RIGHT = "Yes: {value} in all."
ASK_WRONG = "Added up, this is {value}."

NUMBERS_TITLE = "From the vector to these probabilities"
NUMBERS_TEXT = (
    "All numbers for the tokens of the bars: the vector that the head reads, the head's column for "
    "each token, and the logits. Point at a cell to see which numbers it comes from. Click a cell "
    "to keep it."
)
SHARE_TITLE = "From the vector of {part} to its {value}"
SHARE_TEXT = (
    "The vector that the part added goes through the frozen norm. Then it is multiplied by the "
    "head's row of the token, number by number. The products add up to the bar. Click another bar, "
    "or choose a part."
)
SHARE_TEXT_PLAIN = (
    "The vector that the part added is multiplied by the head's row of the token, number by "
    "number. The products add up to the bar. Click another bar, or choose a part."
)
OPEN_PART = "Open the part"
MATRICES = {
    "normed": "after the norm",
    "head": "columns of the head",
    "lnsum": "ln sum",
    "lnp": "ln p",
    "stream": "sum of all parts",
    "part mean": "mean of the part",
    "frozen": "after the frozen norm",
    "rows": "difference of the rows",
}
FORMULAS = {
    "divisor": "√( … + ε)",
    "normed": "what the head reads",
    "lnp": "logits − ln sum",
    "p": "e to the power of ln p",
    "frozen": "÷ divisor × scale",
    "share": "products, added up",
}
LOG_SUM = "ln of the sum of e^logit over all {vocab:,} tokens"
ADDED = "what it added"
ROW = "the head's row of {token}"
