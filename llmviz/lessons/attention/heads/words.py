"""The words of chapter "Heads"."""

TITLE = "One matrix seen as many heads"
TEXT = (
    "A layer makes Q for all heads at once: (B, T, C), batch, tokens, width. Cut the width into H "
    "pieces of D = C/H and bring the heads to the front: (B, H, T, D). Not a number changes, and "
    "every cell keeps its colour. Point at a cell of a head to see which column it was."
)
SHAPES = "({b}, {t}, {c}) → ({b}, {h}, {t}, {d})"
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
