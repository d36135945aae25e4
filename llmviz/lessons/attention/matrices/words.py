"""The words of the matrices and their cells."""

CONCAT_FORMULA = "side by side"
COLUMN = "column {first} of {of}"
COLUMNS = "columns {first}–{last} of {of}"
OF_HEAD = "h{head}"
CUT_TOKEN = "Q of {token}"
CUT_FORMULA = "(H, D), row {token} of Q"
X_FORMULA = "tokens as vectors"
X_FORMULA_MODEL = "what attention reads"
STEPS = {
    "X": "{count} tokens, each a row of {width} numbers.",
    "Q": "X times W_Q gives the queries: what each token looks for.",
    "K": "X times W_K gives the keys: what each token can be found by.",
    "V": "X times W_V gives the values: what each token gives to others.",
    "turned": (
        "Each pair of numbers in Q and K turns by an angle that grows with the position. So the "
        "positions of two tokens change their score only through the distance between them."
    ),
    "scores": "Every query is multiplied with every key: one dot product for each pair.",
    "scaled": (
        "Scores {scale}: they are divided by the root of the head's size, so that large heads do "
        "not make the softmax too sharp."
    ),
    "scaled by width": "Scores {scale}. This model divides by the root of its whole width, not of "
    "the head's size.",
    "not scaled": "This model does not divide its scores.",
    "masked": "A token may not see all others: forbidden cells become −∞.",
    "masked shares": "The mask comes after the softmax here: forbidden shares become 0.",
    "softmax": "This model takes the softmax first, over the whole row.",
    "weights": "Softmax turns each row into shares that add up to 1.",
    "weights softmax_again": "A second softmax makes shares of the shares that are allowed.",
    "weights leave": "Forbidden shares become 0. What is left of a row can add up to less than 1.",
    "weights renormalise": "Each share that is left is divided by the sum of its row.",
    "dropped": (
        "During training, some weights are set to zero at random. The others are made larger."
    ),
    "context": "For each token, every value is multiplied with its share. The sum is the context.",
    "simple scores": (
        "Every row of X is multiplied with every row of X: one dot product for each pair."
    ),
    "simple weights": "Softmax turns each row into shares that add up to 1.",
    "simple context": "Each token becomes a mix of all tokens, by these shares.",
    "all qkv": "One product for all heads together: X times W_Q, W_K, W_V.",
    "split": "The {width} columns are cut into {heads} heads of {size}.",
    "heads scores": "Every head compares its own queries with its own keys.",
    "heads softmax": "In every head, this model takes the softmax first, over the whole row.",
    "heads masked": "The same cells are forbidden in every head.",
    "heads weights": "Every head has weights of its own.",
    "heads context": "Every head adds up its own values.",
    "joined": "The contexts are put side by side again, and W_O mixes them.",
}
