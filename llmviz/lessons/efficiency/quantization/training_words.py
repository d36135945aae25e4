"""What the view "training on the grid" says. Names in braces: live numbers."""

STAIR_TITLE = "A staircase has no slope"
STAIR_TEXT = (
    "Can a model be trained so that rounding costs less? **Quantization-aware training** (Jacob et "
    "al. 2018) rounds the weights in every forward pass, so that the loss is that of the rounded "
    "model. But the curve of rounding is a staircase: its slope is 0 nearly everywhere, so no "
    "gradient comes through. The **[[straight-through estimator]]** (Bengio et al. 2013) takes the "
    "straight line instead of the staircase in the backward pass: a weight gets the gradient of "
    "its rounded value. A weight that is cut off at an end of the grid gets 0. The grid of this "
    "picture ends at −1 and 1."
)
STAIR_BITS = {"2": "2", "3": "3", "4": "4"}
STAIR_NAMES = (
    "forward: rounded weight",
    "the weight itself",
    "backward: share of the gradient that a weight gets",
)
STAIR_AXES = ("exact weight", "value")
WALK_TEXT = (
    "One weight learns this way. Its rounded value should come near {target:g}; the loss is "
    "½ (rounded − {target:g})². The updates change the exact weight. The rounded value stays the "
    "same until the exact weight comes nearer to another value of the grid; then it jumps."
)
RATE = "Learning rate"
WALK_AXES = ("updates", "value")
WALK_NAMES = ("exact weight", "rounded weight", "target")
WALK_READ = (
    "At the first update w = {weight}, rounded {rounded}. The loss has the gradient {rounded} − "
    "{target} = {gradient} at the rounded weight. Straight through, w gets {through}, and becomes "
    "{weight} − {rate:g} · {operand} = {after}. The real slope of the loss at w, measured with a "
    "small step, is {slope}. After {updates} updates the rounded weight is {last}."
)
STAIR_ASK = (
    "The grid reaches from −1 to 1, and the gradient of the loss at a rounded weight is 0.6. Which "
    "gradient does the straight-through estimator give to an exact weight of {weight}?"
)
STAIR_ANSWERS = ("0", "0.6", "0.6 times the error of rounding")
STAIR_REASONS = {
    "inside": (
        "{weight} lies within the grid. Its real slope is 0, since a small change of it does not "
        "change the rounded value; straight through, it gets the whole 0.6."
    ),
    "beyond": (
        "{weight} was cut off at the end of the grid. There the gradient is stopped: it gets 0."
    ),
}

QAT_TITLE = "Train it on the grid"
QAT_TEXT = (
    "The model {model} is trained further in four ways: with 4, 3 and 2 bits, and without rounding "
    "for comparison. All begin at its trained weights. So the first point of each line is the loss "
    "of rounding after training, and the next points are the losses of training on the grid. The "
    "loss is measured on names that are not used in training. The grid is fitted to the weights "
    "anew at every update, so that it reaches all of them."
)
QAT_PER = {"tensor": "the whole matrix", "channel": "each row"}
UPDATES = "Updates"
QAT_START = "Train on the grid"
QAT_AXES = ("updates", "loss, nats per token")
QAT_NAMES = {0: "not rounded", 4: "4 bits", 3: "3 bits", 2: "2 bits"}
QAT_COLUMNS = (
    "weights",
    "loss before, nats per token",
    "loss after, nats per token",
    "time in updates, seconds",
)
QAT_READ = {
    "lower": (
        "With {bits} bits the loss differs from that without rounding by {before} nats per token "
        "at the start, and by {after} at the end. These updates lowered the difference."
    ),
    "not": (
        "With {bits} bits the loss differs from that without rounding by {before} nats per token "
        "at the start, and by {after} at the end. These updates did not lower the difference."
    ),
}
