"""The words of chapter "Step by step"."""

TITLE = "From a dot product to heads"
TEXT = (
    "Point at any cell: the row and the column that it comes from light up, and the arithmetic "
    "stands below with its numbers. Click to keep it. Press play, or use the arrow keys, to watch "
    "one matrix follow from another."
)
RUNG_LABEL = "Rung"
RUNGS = {
    "simple": "Dot products",
    "qkv": "Q, K, V",
    "causal": "Causal",
    "dropout": "Dropout",
    "heads": "Several heads",
}
RUNG_TEXT = {
    "simple": (
        "**Nothing is learned here.** Each token asks every token by [[dot product]], and becomes "
        "a mix of those that point its way. What a token asks for and what it is found by are one "
        "and the same vector, so a score is the same in both directions: nobody can ask for "
        "something *other* than what is like oneself."
    ),
    "qkv": (
        "**Three learned matrices** part the roles: the [[query]] is what a token looks for, the "
        "[[key]] what it can be found by, the [[value]] what it hands over. Now a pronoun can ask "
        "for a noun."
    ),
    "causal": (
        "**A token may not look ahead.** Whoever learns to guess the next token must not see it, "
        "so the [[causal mask]] forbids everything to the right of the diagonal."
    ),
    "dropout": (
        "**While training, some weights are struck out at random**, so that no token relies on "
        "one other alone. The survivors are divided by 1 − p: on average a row still sums to 1."
    ),
    "heads": (
        "**Several questions at once.** Each [[head]] takes its own columns of Q, K and V and "
        "attends by itself; then the answers are put side by side."
    ),
}
JOURNEY_NOTE = (
    "This example has no learned matrices: W_Q, W_K and W_V are the identity until you edit them, "
    "so that Q, K and V are X itself."
)
REAL_NOTE = (
    "Real weights: {name}, layer {layer}, head {head}, {size} numbers wide. X is what the layer "
    "read, after its norm."
)
REAL_SIMPLE = (
    "X is what layer {layer} of {name} read, after its norm; none of its matrices is used yet."
)
REAL_HEADS = "Real weights: {name}, layer {layer}, all {heads} heads of {size} numbers each."
WINDOWS = (
    "A wide matrix is seen through a window of a few columns; drag the frame in the strip below it "
    "to move it. A cell's arithmetic still runs over all of them."
)
POSITIONS = {
    "learned": "Where a token stands is already in X: a vector for each position was added.",
    "sinusoidal": "Where a token stands is already in X: waves of its position were added.",
    "rotary": (
        "X does not know where a token stands: Q and K are turned by their position before they "
        "meet, in each head column j together with column j + {half}."
    ),
    "none": "This model is not told where a token stands; the mask alone gives it an order.",
}
N_HEAD = "Heads"
P = "p, the share struck out"
SEED = "Seed"
EDIT = "Edit the matrices"
EDIT_TEXT = (
    "Change any cell: every matrix that follows from it follows. The link holds your numbers."
)
EDIT_RESET = "Back to the example's numbers"
EDIT_BAD = "{name}: {rule}. Nothing below is drawn until it is a number again."
LARGEST = "The largest share outside the first row: {sentence}"
LARGEST_OTHER = "The largest share that one token gives another, the start token aside: {sentence}"
DROPPED = (
    "Dropout has left {left} of the {count} weights, each divided by {by}. Row sums now run from "
    "{low} to {high}, {mean} on average; another seed strikes out others."
)
DROPPED_ALL = "No weight is left to {names}: the context there is all zeros."
ONLY_ITSELF = (
    "Every token takes {share} or more from itself: these vectors are so long that their product "
    "with themselves leaves nothing to others."
)
NEARLY_ALL = "99.9%"
ONE_TOKEN = "One token alone can only look at itself: its weight is 1, whatever Q and K are."
ASK_CELL = (
    "One cell above is covered: in {matrix}, what {who} gives to {whom}. All that the softmax "
    "needs for it stands there. Which number is it?"
)
ASK_CELL_RIGHT = "e to the power of its score, divided by the sum over the cells of its row."
ASK_CELL_SCORE = "{value} is what the softmax *gets*. It still has to be made a share."
ASK_CELL_EVEN = (
    "{value} would be its share if all {count} cells that the row may look at were equal."
)
ASK_CELL_COLUMN = (
    "{value} comes from dividing by the sum of its *column*; a softmax runs along the row."
)
NO_CELL = "The link keeps a cell that does not exist here; none is kept."
CODE = "Show the code of every step"
CODE_HEADS = "Show the code of every step, printed for head 0"
