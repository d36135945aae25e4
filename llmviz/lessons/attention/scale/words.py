"""The words of chapter "Why ÷√d"."""

TITLE = "Why scores are divided by √d"
INTRO = (
    "A score is a sum of d products. If the entries of queries and keys are independent, with mean "
    "0 and variance 1, the score has mean 0 and variance d. In a head of 64 numbers, the standard "
    "deviation of a score is √64 = 8. Then the [[softmax]] often gives most of a row to one cell. "
    "Dividing by √d brings the standard deviation back to 1."
)
SIZE = "Head size d"
SEED = "Seed"
READ = (
    "At d = {d}, without dividing, the standard deviation of the scores is {wide:.1f}. The "
    "largest weight of a row is {sharp:.0%} on average. The [[entropy]] of a row is {low:.2f} "
    "nats, and the slope of the softmax is {flat:.4f}. Divided by √{d}, the standard deviation is "
    "{one:.1f}, the largest weight {soft:.0%}, the entropy {high:.2f} nats and the slope "
    "{steep:.4f}."
)
GRADIENT = (
    "**The gradient of Q and K is multiplied with the slope.** If one cell has nearly all of its "
    "row, a small change of a score hardly changes the weights. So little gradient reaches Q and K."
)
ENTROPY_AXIS = "entropy of a row (nats)"
GRADIENT_AXIS = "slope of the softmax"
D_AXIS = "head size d"
NAMES = ("divided by √d", "not divided")
EVEN = "ln 16: all weights equal"
CAPTION = (
    "For each head size, {queries} random queries are compared with {keys} random keys. Their "
    "entries are normal, with mean 0 and variance 1. The slope is the Frobenius norm of "
    "∂weights/∂scores, averaged over rows."
)
ONE_ROW = "One query on 16 keys at d = {d}"
ASK_SCALE = (
    "Take d from {d} to {four} without dividing. The entries stay independent, with mean 0 and "
    "variance 1. What happens to the standard deviation of a score?"
)
ASK_SCALE_ANSWERS = (
    "It stays the same",
    "It becomes 2 times as large",
    "It becomes 4 times as large",
)
ASK_SCALE_REASONS = (
    "Four times as many products are added, so the sum has a larger variance.",
    "Variances add up: 4 times the variance is 2 times the standard deviation. The random numbers "
    "above are only a sample. There it goes from {before:.2f} to {after:.2f}.",
    "The *variance* becomes 4 times as large. The standard deviation is its square root.",
)
ENTROPY_TITLE = "How evenly a row is spread"
GRADIENT_TITLE = "How far weights move when a score changes"
ROW_AXIS = "weight"
KEY_AXIS = "key"
