"""The words of chapter "Temperature"."""

TITLE = "What dividing by T does"
TEXT = (
    "[[temperature|Temperature]] divides the [[logits]] before [[softmax]] and nothing else. Below "
    "1 the differences between them grow, above 1 they shrink, and e to the power of them makes "
    "small differences large. Drag T and follow one token from left to right."
)
SOFTMAX = {
    "logit": "logit",
    "scaled": "÷ T",
    "shifted": "− largest",
    "exp": "e to that",
    "probability": "÷ sum",
    "temperature": "T",
    "entropy": "entropy, nats",
    "zero": "greedy",
    "infinite": "uniform",
    "all": "all {n} tokens equal: ln {n} = {entropy} nats",
}
SOFTMAX_ZERO = (
    "T = 0 is no division: the largest logit takes everything. It is what the probabilities go to "
    "as T falls, and what “greedy” means."
)
SOFTMAX_INFINITE = (
    "T = ∞: every difference divided by infinity is 0, so all tokens are equally probable, however "
    "absurd."
)
SOFTMAX_LINE = (
    "{token}: e^({logit} ÷ {t} − {highest}) ÷ {total} = {exp} ÷ {total} = {probability}. The "
    "sum runs over all {n} tokens, also those without a line here."
)
ASK_HALF = (
    "At T = 1, {first} is {ratio:.2f} times as probable as {second}. How many times at T = 0.5?"
)
ASK_HALF_REASON = (
    "Halving T doubles the difference of the logits, and e to twice a difference is the square: "
    "{ratio:.2f}² = {square:.2f}."
)
ASK_HALF_NO = (
    "The ratio is e to the power of (difference ÷ T), so it does not grow in step with 1/T."
)
