"""The words of chapter "Step by step"."""

TITLE = "From a dot product to heads"
TEXT = (
    "Point at any cell. The cells that it is computed from light up, and its arithmetic appears "
    "below. Click to keep the cell in view. Press play, or use the arrow keys, to see how one "
    "matrix is computed from another."
)
RUNG_LABEL = "Version of attention"
RUNGS = {
    "simple": "Dot products",
    "qkv": "Q, K, V",
    "causal": "Causal",
    "dropout": "Dropout",
    "heads": "Several heads",
}
RUNG_TEXT = {
    "simple": (
        "**There are no learned matrices yet.** Each token is compared with every token by "
        "[[dot product]] and becomes a mix of all of them. A higher score is a larger share. Each "
        "token has only one vector, both to ask and to be asked. So a score is the same in both "
        "directions, and a token cannot look for one thing and be found by another."
    ),
    "qkv": (
        "**Three learned matrices** separate the roles. The [[query]] is what a token looks for. "
        "The [[key]] is what it can be found by. The [[value]] is what it gives. Now a pronoun can "
        "look for a noun."
    ),
    "causal": (
        "**A token may not look ahead.** A model that learns to predict the next token must not "
        "see it, so the [[causal mask]] forbids everything to the right of the diagonal."
    ),
    "dropout": (
        "**During training, some weights are set to zero at random.** So a token cannot rely on "
        "one other token alone. The remaining weights are divided by 1 − p. On average, a row then "
        "still sums to 1."
    ),
    "heads": (
        "**Several heads at once.** Each [[head]] takes its own columns of Q, K and V and has "
        "weights of its own. The results of all heads are put side by side, and W_O mixes them."
    ),
}
JOURNEY_NOTE = (
    "This example has no learned matrices. W_Q, W_K and W_V are the identity matrix until you edit "
    "them, so Q, K and V are the same as X."
)
REAL_NOTE = (
    "Real weights: {name}, layer {layer}, head {head}, {size} numbers wide. X is what attention in "
    "this layer read{norm}."
)
REAL_SIMPLE = (
    "X is what attention in layer {layer} of {name} read{norm}; none of its matrices is used yet."
)
REAL_HEADS = "Real weights: {name}, layer {layer}, all {heads} heads of {size} numbers each."
NORM_BEFORE = ", after a norm"
WINDOWS = (
    "Only a few columns of a wide matrix are drawn. Drag the frame in the strip below the matrix "
    "to see other columns. The arithmetic of a cell still uses all columns."
)
POSITIONS = {
    "learned": "X already contains the positions: a vector for each position was added.",
    "sinusoidal": "X already contains the positions: waves of each position were added.",
    "rotary": (
        "No position was added to X. Instead, Q and K are turned before they are multiplied, by an "
        "angle that grows with the position. In each head, columns j and j + {half} turn together, "
        "as a pair."
    ),
    "none": "This model is given no positions. Only a mask, if it has one, tells the order.",
}
N_HEAD = "Heads"
P = "p, the share set to zero"
SEED = "Seed"
EDIT = "Edit the matrices"
EDIT_TEXT = (
    "Change any cell, and everything that is computed from it changes, too. The link contains your "
    "numbers."
)
EDIT_RESET = "Back to the example's numbers"
EDIT_BAD = "{name}: {rule}. Nothing below is drawn until you correct this."
LARGEST = "The largest share outside the first row: {sentence}"
LARGEST_OTHER = (
    "The largest share that a token takes from another one, the start token aside: {sentence}"
)
DROPPED = (
    "Dropout has kept {left} of the {count} weights. What is kept is divided by {by}. Row sums now "
    "go from {low} to {high}, with a mean of {mean}. Another seed can keep other weights."
)
DROPPED_ALL = "Rows in which no weight is left have a context of zeros: {names}."
ONLY_ITSELF = (
    "Every token takes {share} or more from itself. The score of a token with itself is far above "
    "its scores with the other tokens that it sees. So the softmax gives almost nothing to these."
)
ONLY_ITSELF_OR_FIRST = (
    "No token takes more than half a percent from any token but itself and the start token."
)
NEARLY_ALL = "99.9%"
ONE_TOKEN = "A single token can only look at itself. Its weight is 1 for any Q and K."
ASK_CELL = (
    "One cell above is covered: in {matrix}, the weight that {asking} gives to {asked}. All "
    "numbers that the softmax needs for this weight are visible. Which number is it?"
)
ASK_CELL_RIGHT = (
    "It is e to the power of its score, divided by the sum of all such powers in its *row*."
)
ASK_CELL_SCORE = "{value} is the score, before the softmax."
ASK_CELL_EVEN = (
    "{value} would be the share if the token took the same from all {count} tokens that it may "
    "look at."
)
ASK_CELL_COLUMN = (
    "{value} comes from dividing by the sum of the *column*. A softmax divides by the sum of the "
    "row."
)
NO_CELL = "The link names a cell that does not exist here, so no cell is kept."
CODE = "Show the code of every step"
CODE_HEADS = "Show the code of every step, printed for head 0"
ORIGIN = "Where X comes from"
ORIGIN_TEXT = {
    "cat": (
        "Attention does not read words. It reads rows of numbers. Row t of X is the vector of the "
        "token at position t **plus** the vector of position t. The same token at another position "
        "has another row in X. In a trained model both kinds of vectors are learned; here they are "
        "small numbers chosen by hand."
    ),
    "journey": (
        "Attention does not read words. It reads rows of numbers. In this example, each word has "
        "one vector, and no position is added. So the same word has the same row in X at every "
        "place."
    ),
    "model": (
        "Attention does not read words. It reads rows of numbers. In layer 0, a row comes from the "
        "embedding of its token. Some models add a vector of the position. In later layers, a row "
        "comes from what the layers before have computed."
    ),
}
ORIGIN_LABELS = {"token": "token vectors", "position": "position vectors"}
ORIGIN_FORMULA = "token + position"
ORIGIN_EDITED = "You have changed X above. Here you see the X of the example."
