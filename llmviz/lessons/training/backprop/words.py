"""The texts of the chapter on backpropagation."""

TITLE = "Every gradient by hand"
TEXT = (
    "How much does the loss change when a weight changes? That is computed backwards, one step at "
    "a time. The **local** slope of a step says how its result changes with its input. The "
    "**upstream** [[gradient]] is the gradient of the result. The product of the two is the "
    "gradient of the input. This is repeated back to every weight."
)
LOOKS = {
    "small": "A small network",
    "nudge": "Nudge a weight",
    "trained": "A trained model",
}

# ---- the small network

SMALL_TITLE = "A network that fits on the screen"
SMALL_TEXT = (
    "“The cat sat” goes through one attention head and a feed-forward layer to the probabilities "
    "of {choices} tokens; the right one is token {target}. Press play: first the values are "
    "computed forward, then the gradients backward. Click a box to see its arithmetic below, "
    "beside the result of [[autograd]]."
)
TARGET = "The token that came"
TOKENS = ("The", "cat", "sat")
CHOICE = "token {i}"
MISTAKE = "Mistake"
MISTAKES = {
    "none": "None",
    "orientation": "W_out the wrong way round",
    "tokens": "∂W1 summed over all tokens",
}
MISTAKE_TEXT = {
    "none": "",
    "orientation": (
        "**Columns in place of rows.** Each number of f was multiplied by a *row* of W_out, so "
        "∂loss/∂f needs this row. Here the *column* was used, and the fifth logit is left out. "
        "With a square matrix even the shapes would fit. Every gradient that is computed from ∂f "
        "is wrong, too: the largest difference from autograd is {worst:.4f}, in {where}."
    ),
    "tokens": (
        "**All tokens in place of one.** Only the token after “sat” is predicted, so only the row "
        "of “sat” has a loss. With the products of the other two rows added, ∂W1 is {times:.1f} "
        "times as long as it should be. No other gradient changes."
    ),
}
VALUE, GRADIENT = "value", "gradient"
SCALE = "Each small matrix has its own colour scale; point at one for its shape."
NODES = {
    "X": "X",
    "W_Q": "W_Q",
    "W_K": "W_K",
    "W_V": "W_V",
    "q": "q of sat",
    "K": "K",
    "V": "V",
    "scores": "scores",
    "scaled": "÷ √4",
    "weights": "weights",
    "a": "a",
    "W1": "W1",
    "z": "z",
    "h": "h",
    "W2": "W2",
    "f": "f",
    "W_out": "W_out",
    "logits": "logits",
    "p": "p",
    "loss": "loss",
}
FORWARD = {
    "X": "Three tokens as vectors, given.",
    "W_Q": "Weights. Training would change them; here they are given.",
    "W_K": "Weights. Training would change them; here they are given.",
    "W_V": "Weights. Training would change them; here they are given.",
    "W1": "Weights. Training would change them; here they are given.",
    "W2": "Weights. Training would change them; here they are given.",
    "W_out": "Weights. Training would change them; here they are given.",
    "q": "The last token's vector times W_Q: its query.",
    "K": "X times W_K: the keys of all three tokens.",
    "V": "X times W_V: the values of all three tokens.",
    "scores": "The query times each key: a score for each token.",
    "scaled": "Divided by √4, the root of the head's size.",
    "weights": "Softmax: how much “sat” takes from each token.",
    "a": "The weighted mean of the values: the result of the attention.",
    "z": "a times W1, the first half of the feed-forward layer.",
    "h": "ReLU: what is negative becomes 0.",
    "f": "h times W2, the second half.",
    "logits": "f times W_out: a score for each token that could come.",
    "p": "Softmax: their probabilities.",
    "loss": "The token that came had p = {p:.4f}; the loss is −ln of that, {loss:.4f} nats.",
}
BACKWARD = {
    "logits": "∂loss/∂logits = p − y: each probability, minus 1 for the token that came. This is "
    "the slope of softmax and logarithm together.",
    "W_out": "Upstream p − y times the local slope f: every weight of W_out was multiplied by one "
    "number of f.",
    "f": "Each number of f was multiplied by its row of W_out and changed all logits. So its "
    "gradient is a sum over the logits.",
    "W2": "Upstream ∂f times the local slope h.",
    "h": "Back through W2: each number of h gets the sum over its row.",
    "z": "The slope of ReLU is 1 where z was positive and 0 elsewhere.",
    "W1": "Upstream ∂z times the local slope a. Only “sat” has a loss, so only its row counts.",
    "a": "Back through W1.",
    "weights": "Each weight was multiplied by one value row. So its gradient is the dot product "
    "of that row with ∂a.",
    "V": "Each value row was multiplied by its weight, so it gets that share of ∂a.",
    "W_V": "Every token's vector times the gradient of its value row.",
    "scaled": (
        "Softmax: a higher score raises its own weight and lowers the others. So its gradient is a "
        "product: its weight, times the difference between its ∂weight and the weighted mean of "
        "all ∂weights."
    ),
    "scores": "The division by √4 divides the gradient as well.",
    "q": "The query was multiplied by each key. So its gradient is the sum of the keys, each times "
    "its ∂score.",
    "W_Q": "The last token's vector times ∂q.",
    "K": "Each key was multiplied by the query. So its gradient is the query times its ∂score.",
    "W_K": "Every token's vector times the gradient of its key.",
    "X": "X was used three times, for q, K and V, so the three gradients are added.",
}
AUTOGRAD = "by autograd"
AGREES = (
    "The largest difference between the two in this matrix is {apart}. In all {count} matrices it "
    "is {most}."
)
ZERO = "0"
LABELS = {
    "minus y": "−y",
    "open": "slope",
    "dot": "mean",
    "minus dot": "−mean",
    "centred": "∂w − mean",
}
FORMULAS = {
    "minus y": "−1 at the token that came",
    "open": "slope of ReLU: 1 where z > 0",
    "dot": "of ∂weights, by the weights",
    "transposed": "rows and columns exchanged",
}
ASK_SIGN = (
    "The token that came is token {target}, with p = {p:.4f}. Which sign does the gradient of its "
    "logit have? And what lowers the loss: a higher logit or a lower one?"
)
ASK_SIGN_ANSWERS = {
    "Positive: a lower one": (
        "That holds for the other four logits: their gradient is p itself. For the token that "
        "came it is p − 1."
    ),
    "Negative: a higher one": (
        "p − 1 = {gradient:.4f}. The loss falls when the logit rises, because the token then gets "
        "a higher probability."
    ),
    "Zero, the token was right": "It would be zero only at p = 1.",
}

UPDATE_TITLE = "The step: θ − η · ∇"
UPDATE_TEXT = (
    "Each matrix of weights, θ, takes a step against its gradient: θ − η · ∇, where η is the "
    "[[learning rate]]. All six matrices change at once. Choose which one to look at."
)
MOVING, ETA = "Matrix of weights", "Learning rate η"
THETA, GRADIENT_OF, STEP, THETA_NEW = "{name}", "∂{name}", "−η × ∂{name}", "{name} after the step"
UPDATE_RESULT = (
    "The loss was {before:.4f} nats. After the step of all six matrices it is **{after:.4f}**: a "
    "change of {change}."
)
UPDATE_PREDICTED = (
    "The gradients alone predict a change of −η times the sum of their squares, {predicted}."
)
UPDATE_LOWER = "The loss is lower. A small enough step against the gradient always lowers it."
UPDATE_LOWER_WRONG = (
    "The loss is lower though the gradients have a mistake: a falling loss does not prove that "
    "they are right."
)
UPDATE_NOT_LOWER = (
    "The loss is not lower: the direction of the step is right, but the step is too long."
)
UPDATE_NOT_LOWER_WRONG = (
    "The loss is not lower: with a mistake in the gradients, even a short step may raise it."
)
UPDATE_ZERO = "With η = 0 nothing moves."
VARIANT_TITLE = "Without the feed-forward layer"
VARIANT_TEXT = (
    "The same network, but the output of the attention, a, goes straight to W_out. The same rules "
    "hold: p − y is the gradient of the logits, and aᵀ times p − y is the gradient of W_out."
)
VARIANT_RESULT = (
    "The loss is **{without:.4f}** nats without the feed-forward layer and {loss:.4f} with it. "
    "Nothing was trained here, so this does not tell which network is better."
)
VARIANT_GRADIENT = "aᵀ × ∂logits"
VARIANT_FORMULA = "−1 at the token that came"

# ---- nudge

NUDGE_TITLE = "Predicted and true"
NUDGE_TEXT = (
    "A gradient predicts: move this weight by a small δ, and the loss changes by about "
    "gradient × δ. Choose any weight, move it, and compare."
)
MATRIX, ROW, COLUMN = "Matrix", "Row", "Column"
NUDGE = {
    "weight": "the weight",
    "x_axis": "value of the weight",
    "y_axis": "loss, nats",
    "true": "true loss",
    "predicted": "predicted by the gradient",
    "picture": "the loss over one weight, and the straight line of its gradient",
}
NUDGE_LINE = (
    "δ = {delta}: predicted change {slope} × {factor} = {predicted}; true change {true}. The "
    "difference is {off}."
)
NUDGE_START = "The weight as it is: {value}, with a gradient of {slope}. Move the slider."
CHECK_TITLE = "Without any derivative"
CHECK_TEXT = (
    "The slope can also be measured. Compute the loss with the weight raised by ε, and with the "
    "weight lowered by ε. Divide the difference of the two losses by 2ε. That needs no "
    "backpropagation, but two forward passes for each single weight. If ε is large, the curve "
    "bends too much in between. If ε is tiny, the rounding error is too large, compared with the "
    "difference."
)
CHECK_AXES = ("ε", "distance from the gradient by hand")
CHECK_NAMES = {"double": "float64", "single": "float32"}
CHECK_ZERO = (
    "The axis is logarithmic, so distances of exactly 0 cannot be drawn. Left out here: {count}."
)
CHECK_LINE = (
    "By hand {hand}, by autograd {auto}. The best measurement in float64, with ε = {eps}, differs "
    "by {off}."
)
ASK_NUDGE = (
    "The gradient of this weight is {slope}. By how much does the loss change if the weight grows "
    "by 0.01? Choose the nearest answer."
)
ASK_NUDGE_YES = "{slope} × 0.01 = {answer}. The true change is {true}."
ASK_NUDGE_SIGN = (
    "The sign is wrong: with a positive gradient the loss rises with the weight, with a negative "
    "one it falls."
)
ASK_NUDGE_SCALE = "The factor 0.01 is missing: the gradient is the change per unit of the weight."

# ---- a trained model

TRAINED_TITLE = "The same on a trained model"
TRAINED_TEXT = (
    "A trained model reads a sentence, and you look at one of its {parameters:,} weights. Every "
    "position of the text has a loss. So the gradient of a weight is a sum over the positions, of "
    "upstream × local."
)
SENTENCE = "Once there was a cat."
SENTENCE_LABEL = "The text"
STEEPEST = "Take the weight with the largest gradient"
POSITION, USE = "after", "{module}: {shape}"
COLUMNS = {
    "local": ("local", "in"),
    "upstream": ("upstream", "∂loss/∂out"),
    "product": ("product", ""),
    "total": ("by hand", "the sum"),
    "auto": ("by autograd", ""),
    "both": ("by hand", "both uses together"),
}
ASK_WHERE = (
    "The gradient of `{name}`[{row}, {column}] is a sum of {count} parts, one for each position. "
    "Which of these three parts is the largest, without its sign?"
)
ASK_WHERE_ANSWER = "position {place}, after {token}"
ASK_WHERE_REASON = (
    "Without their signs, all parts add up to 100 %. The part of position {place} is {share} "
    "of that."
)
TRAINED_RESULT = (
    "`{name}`[{row}, {column}] = {value}. The products add up to **{hand}**; autograd says {auto}, "
    "a difference of {apart}."
)
TRAINED_LARGEST = (
    "Without their signs, the largest part is that of the position after {token}: {share} of all."
)
TIED = (
    "This matrix is used twice: as the table that turns token {token} into a vector, and as the "
    "last layer, which scores that token. The two gradients are added."
)
TABLE = (
    "Row {row} of this table is the vector of {token}. At positions with another token the local "
    "slope is 0, so the product is 0, too."
)
