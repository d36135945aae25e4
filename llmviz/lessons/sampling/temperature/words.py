"""The words of chapter "Temperature"."""

TITLE = "What dividing by T does"
TEXT = (
    "The model gives each token a number, its [[logits|logit]]. [[softmax|Softmax]] makes "
    "probabilities of these numbers: e to the power of each (e = 2.718…), divided by the sum of "
    "them all. Before this, the logits are divided by the [[temperature]] T. With T below 1, the "
    "differences between the logits grow. With T above 1, they shrink. Drag T and follow one token "
    "from left to right."
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
    "Nothing can be divided by 0. But when T falls, the probabilities come closer and closer to a "
    "limit. There the largest logit gets everything, and equal largest logits share it. T = 0 "
    "stands for this limit. A draw at T = 0 takes the largest logit. Of equal largest ones, it "
    "takes the one with the lowest id. This is greedy choice."
)
SOFTMAX_INFINITE = "At T = ∞ all logits become equal, so all tokens are equally probable."
SOFTMAX_LINE = (
    "{token}: e^({logit} ÷ {t} − {highest}) ÷ {total} = {exp} ÷ {total} = {probability}. The "
    "sum is over all {n} tokens, with or without a line here."
)
ASK_HALF = (
    "At T = 1, {first} is about {ratio} times as probable as {third}. How many times as probable "
    "is it at T = 0.5?"
)
RATIO = "about {n} times"
ASK_HALF_REASON = (
    "With half of T, the difference of the logits is twice as large. The ratio is e to the power "
    "of this difference, so it becomes its own square: {ratio}² ≈ {square}."
)
ASK_HALF_SAME = "That would be no change. Dividing by 0.5 doubles the difference of the logits."
ASK_HALF_TWICE = (
    "Only the difference of the logits doubles. The ratio is e to the power of this difference."
)
