"""All that the chapter "Units" says. Names in braces are filled in with live numbers."""

TITLE = "What single numbers stand for"
TEXT = (
    "Each [[feed-forward network]] of this model has {units}: the numbers between its matrices. A "
    "unit reacts to something in a token's vector. It fires if its number before the activation "
    "function is above 0. Its value after the function, times a vector of its own, is added to the "
    "stream. Here the model reads {pieces} of {corpus}, {tokens} in all, and every unit is "
    "measured."
)
YOUR_TEXT = "the text that it was trained on"
WAIT = "{known:,} of {tokens:,} tokens read …"
CUT = "Of each text, the first {longest} tokens are read, including the start token."
PIECES = (
    "The text is read in pieces of up to {longest} tokens, each by itself. The first piece of a "
    "document begins with the start token."
)
GRID = "How often do units fire?"
GRID_TEXT = (
    "Each row is a layer. The columns say on what share of the tokens a unit fires; a cell counts "
    "the units. {silent} Click a cell to open its unit with the highest value."
)
SILENT = {  # what a unit that does not fire writes, by the activation function
    "relu": "Where a unit does not fire, its value is 0: it writes nothing.",
    "gelu": "Where a unit does not fire, its value lies between −0.18 and 0: it writes little.",
    "silu": "Where a unit does not fire, its value lies between −0.28 and 0: it writes little.",
    "swiglu": "Where a unit does not fire, its gate still lets a little of the other number pass.",
}
SILENT["gelu_tanh"] = SILENT["gelu"]
GRID_LABEL = "how many units of each layer fire how often"
GROUPS = ("never", "≤ 0.1 %", "≤ 1 %", "≤ 10 %", "≤ 50 %", "more")
ROW = "layer {layer}"
NOTE = "{count:,} of {all:,} units"
GRID_READ = "Over all layers, **{dead} of {all:,}** units never fire on these {tokens:,} tokens."
GATED = (
    "In SwiGLU a unit fires where its gate is above 0. Its value, the gate's SiLU times the other "
    "product, may still be below 0."
)
DEAD_ASK = "How many of the {all:,} units of layer {layer} never fire on these {tokens:,} tokens?"
DEAD_ANSWERS = ("none of them", "1 to 10", "11 to 100", "more than 100")
DEAD_REASON = "It is {count:,}."

LAYER = "Layer"
UNIT = "Unit"
STRONGEST = "Units of this layer with high values; those that fire most rarely come first"
ASK = "On how many of the {tokens:,} tokens does unit {unit} of layer {layer} fire?"
ASK_ANSWERS = ("on none", "on up to 1 %", "on more than 1 %, up to 10 %", "on more than 10 %")
ASK_REASON = "It fires on {count:,} of them, {share}."
UNIT_TITLE = "Unit {unit} of layer {layer}"
UNIT_READ = (
    "It fires on {share} of the tokens. Its highest value is {value:.2f}, at {token}. Below are "
    "texts in which its value is highest. Each token is coloured by the value. Point at a token to "
    "read it."
)
UNIT_DEAD = (
    "It never fires: before the activation function its number is never above 0. After the "
    "function, its highest value is {value:.4f}, for example at {token}. Below are texts in which "
    "its value is highest."
)
ROW_NAME = "{value:.2f}"
VALUE = "value"
WRITES = "What it writes into the prediction"
WRITES_TEXT = {  # by where the model's norms stand
    "pre": (
        "The unit's value is highest at {token}. There the final norm divides by {divisor:.2f}. "
        "The unit's vector goes through this norm and is multiplied by the output head. The result "
        "says how much a value of 1 raises or lowers the [[logits|logit]] of a token. The effect "
        "on later layers is left out."
    ),
    "post": (
        "The unit's value is highest at {token}. The unit's vector goes through the norms after "
        "it, with the divisors that they have there, and is multiplied by the output head. The "
        "result says how much a value of 1 raises or lowers the [[logits|logit]] of a token. The "
        "effect on later layers is left out."
    ),
    "none": (
        "The unit's vector is multiplied by the output head. The result says how much a value of 1 "
        "raises or lowers the [[logits|logit]] of a token. The effect on later layers is left out."
    ),
}
WRITES_AXIS = "added to the logit by a value of 1"
WRITES_READ = (
    "The highest number is that of {more} ({raised}), the lowest that of {less} ({lowered}). With "
    "the unit's highest value, {value:.2f}, it adds {times} to the logit of {more}."
)
