"""The words of chapter "Heads"."""

TITLE = "One matrix seen as many heads"
TEXT = (
    "A layer computes Q for all heads at once. Its shape is (B, T, C), that is batch, tokens, "
    "width. Two steps turn Q into one matrix for each head. **Step 1:** each token's row of C "
    "numbers is cut into H pieces of D = C/H numbers: (B, T, H, D). **Step 2:** the axes of tokens "
    "and heads change places: (B, H, T, D). No number changes, and every cell keeps its colour. "
    "Going to (B, H, T, D) in one step, with `view` alone, would mix the numbers of different "
    "tokens."
)
SHAPES = "({b}, {t}, {c}) → ({b}, {t}, {h}, {d}) → ({b}, {h}, {t}, {d})"
CUT = (
    "Step 1: each token gets a small table with one row for each head. The picture shows this for "
    "{count}."
)
HEADS_FIRST = (
    "Step 2: each head gets a table with one row for each token. Point at a cell to see its column "
    "in Q."
)
EACH_TITLE = "Each head attends by itself"
EACH = (
    "{heads}, with one weight matrix each. Then the contexts are put side by side again: the shape "
    "is (B, T, C). W_O mixes them. In a model, the result is added to the [[residual stream]]."
)
CONTEXT = "context, head {head}"
COLUMNS_LABEL = "Scores from"
COLUMNS = {"own": "The head's own columns (right)", "all": "All columns, in every head"}
OWN = (
    "Each head compares only **its own columns**, {d} of {c}. Scores from all {c} columns would be "
    "the same in every head. Try it."
)
ALL = (
    "**A mistake:** every head compares all {c} columns of Q and K. So all {heads} heads have the "
    "same weights. They differ from the right ones by up to {change}. Only the values of the heads "
    "still differ."
)
ONE = "There is one head. It has all {c} columns."
OWN_ROOT = "The scores are divided by √{d}, the root of a head's own size."
OFF_TITLE = "Switch heads off"
OFF_TEXT = (
    "A head that is off gives zeros: its columns of the concatenation are all zero. All later "
    "steps are computed as usual. Choose heads and see how the probabilities of the next token "
    "change."
)
OFF_LABEL = "Heads that are off"
OFF_NAME = "layer {layer} · head {head}"
OFF_NONE = "All heads are on. After {last}, the model gives {best} a probability of {share}."
OFF_READ = (
    "After {last}, the probability of {best} goes from {before} to {after}. In all, {moved} of the "
    "probability has moved to other tokens."
)
OFF_ALL = "Switch all off"
OFF_CLEAR = "All on"
OFF_ON_NAME = "all heads on"
OFF_OFF_NAME = "with heads off"
OFF_AXIS = "probability of the next token"
OFF_MANY = (
    "There is no question here about which of the {heads} heads matters most. For the answer, each "
    "head would have to be switched off alone, and this takes too long with a model of this size."
)
OFF_WORTH = (
    "Each head was switched off alone. The head that matters most here is {head}: without it, "
    "{moved} of the probability moves."
)
OFF_WORTH_TIE = (
    "Each head was switched off alone. Several heads matter most here, all by the same amount: "
    "{heads}. Without one of them, {moved} of the probability moves."
)
OFF_WORTH_NONE = (
    "Each head was switched off alone. No head moves even half a percent of the probability."
)
ASK_OFF = (
    "The model's first choice is {best}. If only one of these heads is switched off, probability "
    "moves from some tokens to others. With which head is it the most? Guess, or try them above."
)
ASK_OFF_RIGHT = (
    "Without it, {share} of the probability moves: more than without any other of these."
)
ASK_OFF_WRONG = "Without it, {share} of the probability moves."
OFF_BAD = "The link switches off {heads}, which this model does not have."
OFF_TITLE_FIGURE = "The next token"
SPOT_TITLE = "Spot the mistake"
SPOT_TEXT = "It is easy to confuse layers with heads, or counting from 0 with counting from 1."
SPOT_HEADS = "A note on the model {name} says four things. Which one is wrong?"
SPOT_LINES = {
    "layers": (
        "It has {layers}.",
        "True: there is attention in each of them.",
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
    "This would be right if the table began at 1. But the first layer has the number 0, and so has "
    "the first head."
)
SPOT_ZERO_LAYER = "The layers are counted from 0, too: layer 0 is the first one."
SPOT_ZERO_HEAD = "The heads are counted from 0, too: head 0 is the first one."
ORDINALS = ("first", "second", "third", "fourth")
