"""The words of chapter "Logits to a token"."""

TITLE = "From logits to a token"
TEXT = (
    "The first column is the model's own answer: the [[softmax]] of its [[logits]] for the token "
    "after your prompt. Each further column is one step of code. Drag a slider and follow the same "
    "tokens through the columns. An outline shows the probability before the step. A hatched bar "
    "was cut. After a cut, the probabilities of the tokens that stay are divided by their sum, so "
    "that they add up to 1 again. The pale end of a bar is what the token gains by this division."
)
MODEL_COLUMN = "the model"
MODEL_HINT = "softmax of the logits"
BAN = "Click a token to forbid it. The arrows ‹ › beside a step change the order."
DRAW_AGAIN = "Draw again"
DRAW_NUMBER = "Draw {draw:,} with seed {seed}."
TOP_K_LARGE = (
    "k = {k:,} is more than the {vocabulary:,} tokens of the vocabulary, so all of them are kept."
)
BAN_GONE = (
    "This model has only {vocabulary:,} tokens. It has no tokens with these forbidden ids: {ids}."
)
ORDER_SAME = (
    "**The order matters.** With these settings, {now} can be drawn. With the temperature after "
    "the cuts, it would be {other}, and {share} of the probability would be on other tokens."
)
ORDER_NOTHING = (
    "**The order can matter.** With these settings, the distribution is the same if the "
    "temperature comes last. Choose a temperature above 1 together with a top-p below 1 and look "
    "again."
)
ORDER_CHANGED = (
    "With **your order** ({order}), {now} can be drawn. With the usual order (penalties, "
    "temperature, then the cuts) it is {other}, and {share} of the probability is on other tokens."
)
ORDER_CHANGED_SAME = (
    "**Your order** ({order}) gives the same distribution as the usual one with these settings."
)
TAIL_TEXT = (
    "The bars are the {bars} most probable of {vocabulary:,} tokens{forbidden}. The last line "
    "stands for the other {rest:,}. In the model's own answer, these other tokens have {mass} "
    "together."
)
TAIL_FORBIDDEN = " and those that you forbade"
ASK_NUCLEUS = (
    "Look at the first column only. Take tokens from the most probable one down. What is the "
    "smallest number of tokens that have {p:.0%} of the probability together?"
)
ASK_NUCLEUS_REASON = (
    "{n} together have {mass}. Without the last of them, it is less than {p:.0%}. This is the set "
    "that top-p = {p:g} keeps here."
)
ASK_NUCLEUS_FEW = "{n} together: {mass}. That is less than {p:.0%}."
ASK_NUCLEUS_MANY = "{n} together: {mass}. That is enough, but fewer are enough, too."
