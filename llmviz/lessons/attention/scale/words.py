"""The words of chapter "Why ÷√d"."""

TITLE = "Why scores are divided by √d"
INTRO = (
    "A score is a sum of d products. If the entries of queries and keys are independent, with mean "
    "0 and variance 1, the score has mean 0 and variance d. In a head of 64 numbers, its spread "
    "(standard deviation) is √64 = 8, and the [[softmax]] gives most of a row to one cell. "
    "Dividing by √d brings the spread back to 1."
)
SIZE = "Head size d"
SEED = "Seed"
READ = (
    "At d = {d}: undivided, the scores spread by {wide:.1f}, a row's largest weight is "
    "{sharp:.0%}, its [[entropy]] {low:.2f} nats and the slope of the softmax {flat:.4f}. "
    "Divided by √{d}: spread {one:.1f}, largest weight {soft:.0%}, entropy {high:.2f}, "
    "slope {steep:.4f}."
)
GRADIENT = (
    "**The slope decides how much gradient passes.** Where nearly all of a row lies on one cell, a "
    "small change of a score changes the weights little, so little gradient reaches Q and K."
)
ENTROPY_AXIS = "entropy of a row (nats)"
GRADIENT_AXIS = "slope of the softmax"
D_AXIS = "head size d"
NAMES = ("divided by √d", "not divided")
EVEN = "ln 16: all keys alike"
CAPTION = (
    "{queries} random queries on {keys} random keys, normal with mean 0 and variance 1, for each "
    "head size; the slope is the Frobenius norm of ∂weights/∂scores, mean over rows."
)
ONE_ROW = "One query on 16 keys at d = {d}"
ASK_SCALE = (
    "Take d from {d} to {four} without dividing. The entries stay independent, with mean 0 and "
    "variance 1. By how much does the standard deviation of a score grow?"
)
ASK_SCALE_ANSWERS = ("Not at all", "2 times", "4 times")
ASK_SCALE_REASONS = (
    "Four times as many products are added: the sum does spread further.",
    "Variances add: 4 times the variance is 2 times the standard deviation. Measured on the random "
    "numbers above, which are only a sample: {before:.2f} → {after:.2f}.",
    "The *variance* grows 4 times; the standard deviation is its root.",
)
ENTROPY_TITLE = "How open a row stays"
GRADIENT_TITLE = "How much a nudge still moves"
ROW_AXIS = "weight"
KEY_AXIS = "key"
