"""The words of chapter "Heads"."""

TITLE = "One matrix seen as many heads"
TEXT = (
    "A layer computes Q for all heads at once: (B, T, C), that is batch, tokens, width. It becomes "
    "one matrix for each head in two steps. **Step 1:** each token's row of C numbers is cut into "
    "H pieces of D = C/H numbers: (B, T, H, D). **Step 2:** the axes of tokens and heads change "
    "places: (B, H, T, D). No number changes, and every cell keeps its colour. Going to (B, H, T, "
    "D) in one step, with `view` alone, would mix the numbers of different tokens."
)
SHAPES = "({b}, {t}, {c}) → ({b}, {t}, {h}, {d}) → ({b}, {h}, {t}, {d})"
CUT = "Step 1: of each token, one row for each head. The first {count} tokens are drawn."
HEADS_FIRST = (
    "Step 2: of each head, one row for each token. Point at a cell to see its column in Q."
)
EACH_TITLE = "Each head attends by itself"
EACH = (
    "{heads} heads, one weight matrix each. Then their contexts stand side by side again, (B, T, "
    "C), W_O mixes them, and the result is added to the [[residual stream]]."
)
CONTEXT = "context, head {head}"
COLUMNS_LABEL = "Scores from"
COLUMNS = {"own": "The head's own columns (right)", "all": "All columns, in every head"}
OWN = (
    "Each head uses **its own columns** and divides by the root of **its own size**, √{d}. Scores "
    "from all {c} columns would be the same in every head: try it."
)
ALL = (
    "**A mistake:** every head compares all {c} columns of Q and K. So all {heads} heads have "
    "the same weights, which differ from the right ones by up to {change}. Only their values still "
    "differ."
)
ONE = "One head has all {c} columns, and divides by the root of its size, √{d}."
OFF_TITLE = "Switch heads off"
OFF_TEXT = (
    "A head that is off hands over zeros: its columns of the concatenation are all zero. All later "
    "steps are computed as always, from these zeros. Choose heads, and see how the next token's "
    "probabilities change."
)
OFF_LABEL = "Heads that are off"
OFF_NAME = "layer {layer} · head {head}"
OFF_NONE = "All heads are on. After {last}, the model gives {best} a probability of {share}."
OFF_READ = (
    "After {last}: {best} goes from {before} to {after}. In all, {moved} of the probability "
    "has moved to other tokens."
)
OFF_ALL = "Switch all off"
OFF_CLEAR = "All on"
OFF_ON_NAME = "all heads on"
OFF_OFF_NAME = "with heads off"
OFF_AXIS = "probability of the next token"
OFF_MANY = (
    "Which of the {heads} heads matters most is not asked here: each of them would have to be "
    "switched off alone, which takes a model of this size too long."
)
OFF_WORTH = (
    "Switched off one at a time, the head that matters most here is {head}: without it, {moved} of "
    "the probability moves."
)
OFF_WORTH_TIE = (
    "Switched off one at a time, several heads matter most here, each as much: {heads}. Without "
    "one of them, {moved} of the probability moves."
)
OFF_WORTH_NONE = "Switched off one at a time, no head moves even half a percent of the probability."
ASK_OFF = (
    "The model's first choice is {best}. Switched off alone, which of these heads moves the most "
    "probability from some tokens to others? Guess, or try them above."
)
ASK_OFF_RIGHT = (
    "Without it, {share} of the probability moves: more than without any other of these."
)
ASK_OFF_WRONG = "Without it, {share} of the probability moves."
OFF_BAD = "The link switches off {heads}, which this model does not have."
OFF_TITLE_FIGURE = "The next token"
SPOT_TITLE = "Spot the mistake"
SPOT_TEXT = "Layers and heads are easily confused, and so are numbers that begin at 0 or at 1."
SPOT_HEADS = "A note on the model {name} says four things. Which one is wrong?"
SPOT_LINES = {
    "layers": (
        "It has {layers}, one after the other.",
        "True: the output of one is the next input.",
    ),
    "heads": (
        "It has {layers}, so it has {total}.",
        "This one is wrong. Each layer has {heads}: {all} heads in all.",
    ),
    "size": ("Each head uses {size} of the {width} columns of Q.", "True: D = C/H."),
    "same": ("All heads of a layer read the same X.", "True: they differ in their matrices."),
}
SPOT_ZERO = (
    "A table of this lesson has a row “layer {layer}, head {head}”. A note calls it “the "
    "{wrong_head} head of the {wrong_layer} layer”. Which head is it?"
)
SPOT_ZERO_ANSWER = "The {head} head of the {layer} layer"
SPOT_ZERO_RIGHT = "Layers and heads are counted from 0: number {layer} is the {nth} one."
SPOT_ZERO_BOTH = (
    "That reads the table as if it began at 1. The first layer and the first head are 0."
)
SPOT_ZERO_LAYER = "The layers are counted from 0, too: layer 0 is the first one."
SPOT_ZERO_HEAD = "The heads are counted from 0, too: head 0 is the first one."
ORDINALS = ("first", "second", "third", "fourth")
