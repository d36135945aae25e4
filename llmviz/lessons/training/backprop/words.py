"""What the chapter on backpropagation says."""

TITLE = "Every gradient by hand"
TEXT = (
    "How much does each weight change the loss? That is worked out backwards, one step at a time. "
    "For each step it is known how its result changes with its input: the **local** slope. "
    "Multiplied by what arrives from above, the **upstream** [[gradient]], it gives the gradient "
    "of the input, and so on down to every weight."
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
    "of {choices} tokens; the right one is token {target}. Press play: first the numbers flow "
    "forward, then the gradients come back. Click a box to open its arithmetic below, beside "
    "what [[autograd]] says."
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
        "**Columns for rows.** ∂loss/∂f takes, for each of its numbers, the *row* of W_out that "
        "this number was multiplied by. Here the *column* was read, and the fifth logit is left "
        "out. With a square matrix not even the shapes would differ. Everything further down is "
        "wrong with it: the largest error against autograd is {worst:.4f}, in {where}."
    ),
    "tokens": (
        "**All tokens for one.** Only “sat” was asked what comes next, so only its row carries a "
        "loss. Adding the products of the other two rows makes ∂W1 about {times:.1f} times too "
        "large. No other gradient changes."
    ),
}
VALUE, GRADIENT = "value", "gradient"
SCALE = "Each small matrix has its own scale; point at one for its shape."
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
    "W_Q": "Learned weights.",
    "W_K": "Learned weights.",
    "W_V": "Learned weights.",
    "W1": "Learned weights.",
    "W2": "Learned weights.",
    "W_out": "Learned weights.",
    "q": "The last token's vector times W_Q: its query.",
    "K": "X times W_K: the keys of all three tokens.",
    "V": "X times W_V: the values of all three tokens.",
    "scores": "The query times each key: a score for each token.",
    "scaled": "Divided by √4, the root of the head's size.",
    "weights": "Softmax: how much “sat” takes from each token.",
    "a": "The weighted mean of the values: what attention hands on.",
    "z": "a times W1, the first half of the feed-forward layer.",
    "h": "ReLU: what is negative becomes 0.",
    "f": "h times W2, the second half.",
    "logits": "f times W_out: a score for each token that could come.",
    "p": "Softmax: their probabilities.",
    "loss": "The token that came had p = {p:.4f}; the loss is −ln of that, {loss:.4f} nats.",
}
BACKWARD = {
    "logits": "∂loss/∂logits = p − y: each probability, less 1 for the token that came. Softmax "
    "and logarithm in one.",
    "W_out": "Upstream p − y times the local slope f: every weight of W_out was multiplied by one "
    "number of f.",
    "f": "Each number of f went through its row of W_out to all logits; it takes the sum of what "
    "they send back.",
    "W2": "Upstream ∂f times the local slope h.",
    "h": "Back through W2: each number of h collects from its row.",
    "z": "ReLU lets through what was positive, slope 1, and stops the rest, slope 0.",
    "W1": "Upstream ∂z times the local slope a. Only “sat” has a loss, so only its row counts.",
    "a": "Back through W1.",
    "weights": "Each weight was multiplied by one value row: its slope is that row, summed with "
    "∂a.",
    "V": "Each value row arrived with its weight; that share of ∂a goes back to it.",
    "W_V": "Every token's vector times what its value row gets back.",
    "scaled": "Softmax: a score is raised at the others' cost. Each ∂weight less their mean, times "
    "the weight.",
    "scores": "The division by √4 divides the gradient as well.",
    "q": "The query was multiplied by each key: it takes the keys, weighted by ∂scores.",
    "W_Q": "The last token's vector times ∂q.",
    "K": "Each key was multiplied by the query: it takes the query, times its own ∂score.",
    "W_K": "Every token's vector times what its key gets back.",
    "X": "X was used three times, for q, K and V: the three gradients add up.",
}
BY_HAND, AUTOGRAD, UPSTREAM, LOCAL = "by hand", "by autograd", "upstream", "local"
AGREES = (
    "The largest difference between the two, over this matrix, is {apart}. Over all {count} "
    "matrices it is {most}."
)
ZERO = "0"
LABELS = {
    "minus y": "−y",
    "open": "open",
    "dot": "mean",
    "minus dot": "−mean",
    "centred": "∂w − mean",
}
FORMULAS = {
    "minus y": "1 where the token came",
    "open": "1 where ReLU let through",
    "dot": "of ∂weights, by the weights",
    "transposed": "turned",
}
ASK_SIGN = (
    "The token that came is token {target}, with p = {p:.4f}. Which sign has the gradient of its "
    "logit, and what would lower the loss: a higher logit or a lower one?"
)
ASK_SIGN_ANSWERS = {
    "Positive: a lower one": (
        "That holds for the other four logits: their gradient is p itself. For the token that "
        "came it is p − 1."
    ),
    "Negative: a higher one": (
        "p − 1 = {gradient:.4f}. The loss falls where the logit rises, for then this token gets a "
        "higher probability."
    ),
    "Zero, the token was right": "It would be zero only at p = 1.",
}

UPDATE_TITLE = "The step: θ − η · ∇"
UPDATE_TEXT = (
    "With its gradient each matrix of weights, θ, makes a step against it: θ − η · ∇, where η is "
    "the [[learning rate]]. All six matrices step at once; choose which one to look at."
)
MOVING, ETA = "Matrix of weights", "Learning rate η"
THETA, GRADIENT_OF, STEP, THETA_NEW = "{name}", "∂{name}", "−η × ∂{name}", "{name} after the step"
UPDATE_RESULT = (
    "The loss was {before:.4f} nats. With all six matrices after their step it is **{after:.4f}**: "
    "a change of {change}."
)
UPDATE_PREDICTED = (
    "The slopes alone predict −η times the sum of all squared gradients, {predicted}."
)
UPDATE_LOWER = "The loss is lower, as a small enough step against the gradient makes it."
UPDATE_LOWER_WRONG = (
    "The loss is lower though the gradients have a mistake: a falling loss does not prove that "
    "they are right."
)
UPDATE_NOT_LOWER = (
    "The loss is not lower: a step has a direction and a length, and one of them is wrong here."
)
UPDATE_ZERO = "With η = 0 nothing moves."
VARIANT_TITLE = "Without the feed-forward layer"
VARIANT_TEXT = (
    "The same network, with the output of the attention, a, going straight into W_out. The same "
    "rules apply: p − y is the gradient of the logits, and a, turned, times that is the gradient "
    "of W_out."
)
VARIANT_RESULT = (
    "The loss is **{without:.4f}** nats without the feed-forward layer and {loss:.4f} with it. "
    "Nothing was trained here, so that says nothing about which network is better."
)
VARIANT_GRADIENT = "aᵀ × ∂logits"
VARIANT_FORMULA = "1 at the token that came, times −1"

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
    "predicted": "predicted by the slope",
    "picture": "the loss over one weight, and the straight line of its gradient",
}
NUDGE_LINE = (
    "δ = {delta}: predicted change {slope} × {delta} = {predicted}; true change {true}. Off by "
    "{off}."
)
NUDGE_START = "The weight as it is: {value}, with a gradient of {slope}. Move the slider."
CHECK_TITLE = "Without any derivative"
CHECK_TEXT = (
    "The same slope can be measured: raise the weight by ε, lower it by ε, divide the difference "
    "of the two losses by 2ε. That needs no backpropagation, but two runs of the whole network "
    "for each single weight. With a large ε the curve bends too much in between; with a tiny one "
    "rounding is larger than the difference."
)
CHECK_AXES = ("ε", "distance from the gradient by hand")
CHECK_NAMES = {"double": "float64", "single": "float32"}
CHECK_ZERO = "A distance of exactly 0 has no place on this axis: {count} of them are left out."
CHECK_LINE = (
    "By hand {hand}, by autograd {auto}. The best of these measurements, ε = {eps} in float64, is "
    "off by {off}."
)
ASK_NUDGE = (
    "The gradient of this weight is {slope}. By how much does the loss change if the weight grows "
    "by 0.01? Choose what is nearest."
)
ASK_NUDGE_YES = "{slope} × 0.01 = {answer}. The true change is {true}."
ASK_NUDGE_SIGN = (
    "The sign is wrong: with a positive gradient the loss rises with the weight, with a negative "
    "one it falls."
)
ASK_NUDGE_SCALE = "That forgets the 0.01: the gradient is the change per unit of the weight."

# ---- a trained model

TRAINED_TITLE = "The same on a trained model"
TRAINED_TEXT = (
    "A real model, a real sentence, one of its {parameters:,} numbers. The text has many "
    "positions, and every one of them has a loss: the gradient of a weight is a sum over "
    "positions of upstream × local."
)
SENTENCE = "Once there was a cat."
SENTENCE_LABEL = "The text"
STEEPEST = "Take its steepest weight"
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
    "The gradient of `{name}`[{row}, {column}] is a sum over {count} positions. Which of these "
    "three gives the largest part?"
)
ASK_WHERE_ANSWER = "position {place}, after {token}"
ASK_WHERE_REASON = (
    "Position {place} gives {share} of all that the products add and take away: its input times "
    "the gradient that arrives there, from its own loss and from later ones."
)
TRAINED_RESULT = (
    "`{name}`[{row}, {column}] = {value}. The products add up to **{hand}**; autograd says {auto}, "
    "a difference of {apart}."
)
TRAINED_LARGEST = "The largest share, {share}, comes from the position after {token}."
TIED = (
    "This matrix is used twice: as the table that turns token {token} into a vector, and as the "
    "last layer, which scores that token. The two gradients add up."
)
TABLE = (
    "Row {row} of this table is the vector of {token}. Where the text does not have it, nothing "
    "comes in, and nothing goes back."
)
SHARES_TITLE = "all positions"
