"""The words of chapter "Temperature"."""

TITLE = "What dividing by T does"
TEXT = (
    "The model gives each token a number, its [[logits|logit]]. [[softmax|Softmax]] makes "
    "probabilities of these numbers: e to the power of each (e = 2.718…), divided by the sum "
    "of them all. "
    "[[temperature|Temperature]] T divides the logits before that. With T below 1 the differences "
    "between the logits grow, with T above 1 they shrink. Drag T and follow one token from left to "
    "right."
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
    "T = 0 is no division, because nothing can be divided by 0. It is what the probabilities come "
    "closer to as T falls: the largest logit gets everything, and equal largest ones share it. A "
    "draw at T = 0 takes the largest one, of equal ones the one with the lowest id. This is greedy "
    "choice."
)
SOFTMAX_INFINITE = (
    "At T = ∞ every difference between logits becomes 0, so all tokens are equally probable."
)
SOFTMAX_LINE = (
    "{token}: e^({logit} ÷ {t} − {highest}) ÷ {total} = {exp} ÷ {total} = {probability}. The "
    "sum is over all {n} tokens, also those that have no line here."
)
ASK_HALF = (
    "At T = 1, {first} is about {ratio} times as probable as {third}. At T = 0.5, it is how many "
    "times as probable?"
)
RATIO = "about {n} times"
ASK_HALF_REASON = (
    "Halving T doubles the difference of the logits. e to the power of twice a difference is the "
    "square of what it was: {ratio}² ≈ {square}."
)
ASK_HALF_SAME = "That would be no change. Dividing by 0.5 doubles the difference of the logits."
ASK_HALF_TWICE = (
    "The difference of the logits doubles, but the ratio is e to the power of that difference."
)
