"""The words of the matrices and their cells."""

CONCAT_FORMULA = "side by side"
COLUMN = "column {first} of {of}"
COLUMNS = "columns {first}–{last} of {of}"
OF_HEAD = "h{head}"
CUT_TOKEN = "Q of {token}"
CUT_FORMULA = "(H, D), row {token} of Q"
X_FORMULA = "tokens as vectors"
X_FORMULA_MODEL = "normed input of the block"
STEPS = {
    "X": "{count} tokens, each a row of {width} numbers.",
    "Q": "X times W_Q gives the queries: what each token asks for.",
    "K": "X times W_K gives the keys: what each token can be found by.",
    "V": "X times W_V gives the values: what each token hands over.",
    "turned": "Each pair of numbers in Q and K turns by its angle, further at later positions: the "
    "score of two tokens then depends on how far apart they stand.",
    "scores": "Every query is multiplied with every key: one dot product for each pair.",
    "scaled": "Scores {scale}, so that large heads do not make the softmax too sharp.",
    "masked": "A token must not see all others: forbidden cells become −∞.",
    "softmax": "Here the softmax comes first, and sees the whole row.",
    "weights": "Softmax turns each row into shares that add up to 1.",
    "dropped": (
        "During training, some weights are set to zero at random; the others are made larger."
    ),
    "context": "Each token adds up the values, each times its share. The sum is its context.",
    "simple scores": (
        "Every token is multiplied with every token: dot products. Nothing is learned yet."
    ),
    "simple weights": "Softmax turns each row into shares that add up to 1.",
    "simple context": "Each token becomes a mix of all tokens, by these shares.",
    "all qkv": "One product for all heads together: X times W_Q, W_K, W_V.",
    "split": "The {width} columns are cut into {heads} heads of {size}.",
    "heads scores": "Every head compares its own queries with its own keys.",
    "heads scaled": "Scores {scale}: the root of a head's own size.",
    "heads softmax": "Here the softmax comes first in every head, and sees the whole row.",
    "heads masked": "The same cells are forbidden in every head.",
    "heads weights": "Every head has weights of its own.",
    "heads context": "Every head adds up its own values.",
    "joined": "The contexts are put side by side again, and W_O mixes them.",
}
