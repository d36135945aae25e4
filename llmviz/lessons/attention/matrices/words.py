"""The words of the matrices and their cells."""

TAKES = "“{who}” takes {share} from “{whom}”."
TAKES_SELF = "“{who}” takes most, {share}, from itself."
MASK_REASON = "it lies ahead"
MASKED_FORMULA = "−∞ where forbidden"
WEIGHTS_FORMULA = "softmax of each row"
KEPT_FORMULA = "1 = kept"
DROPPED_FORMULA = "kept ÷ (1 − p)"
FIRST_SOFTMAX = "softmax first"
THEN_MASK = "then masked"
MASK_LABEL = "mask"
TURNED = "turned"
TURNED_FORMULA = "{name} turned by angle"
ANGLE_FORMULA = "position × speed, radians"
CONCAT_FORMULA = "side by side"
COLUMN = "column {first} of {of}"
COLUMNS = "columns {first}–{last} of {of}"
OF_HEAD = "h{head}"
X_FORMULA = "tokens as vectors"
X_FORMULA_MODEL = "normed input of the block"
STEPS = {
    "X": "{count} tokens, each a row of {width} numbers.",
    "Q": "X times W_Q gives the queries: what each token asks for.",
    "K": "X times W_K gives the keys: what each token can be found by.",
    "V": "X times W_V gives the values: what each token hands over.",
    "turned": "Each pair of numbers in Q and K turns by its angle, further at later positions: the "
    "score of two tokens then depends on how far apart they stand.",
    "scores": "Every query meets every key. One dot product for each pair: how well they fit.",
    "scaled": "Scores {scale}, so that the size of a head does not sharpen its softmax.",
    "masked": "A token must not look at all others: forbidden cells become −∞.",
    "softmax": "Here the softmax comes first, and sees the whole row.",
    "weights": "Softmax turns each row into shares that add up to 1.",
    "dropped": "While training, some weights are dropped at random; the others grow to make up.",
    "context": "Each token gathers the values of the others by its shares. That is its answer.",
    "simple scores": "Every token meets every token by dot product. Nothing is learned yet.",
    "simple weights": "Softmax turns each row into shares that add up to 1.",
    "simple context": "Each token becomes a mix of all tokens, by these shares.",
    "all qkv": "One product for all heads together: X times W_Q, W_K, W_V.",
    "split": "The {width} columns are cut into {heads} heads of {size}.",
    "heads scores": "Every head compares its own queries with its own keys.",
    "heads scaled": "Scores {scale}: the root of a head's own size.",
    "heads softmax": "Here the softmax comes first in every head, and sees the whole row.",
    "heads masked": "The same cells are forbidden in every head.",
    "heads weights": "Every head has weights of its own.",
    "heads context": "Every head gathers from its own values.",
    "joined": "The answers are put side by side again, and W_O mixes them.",
}
