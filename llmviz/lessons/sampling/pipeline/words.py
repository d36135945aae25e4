"""The words of chapter "Logits to a token"."""

TITLE = "From logits to a token"
TEXT = (
    "The first column is the model's own answer: the [[softmax]] of its [[logits]] for the token "
    "after your prompt. Each further column is one step of code. Drag a slider and look at the "
    "same tokens down the line: an outline is what stood there before, hatching is what was cut, "
    "and the pale end of a bar is what renormalising gave to the ones that stay."
)
MODEL_COLUMN = "the model"
MODEL_HINT = "softmax of the logits"
BAN = "Click a token to forbid it; the arrows ‹ › beside a step change the order."
DRAW_AGAIN = "Draw again"
DRAW_NUMBER = "Draw {draw:,} of seed {seed}."
TOP_K_LARGE = (
    "k = {k:,} is more than the vocabulary of {vocabulary:,} tokens has: all of them are kept."
)
BAN_GONE = "Forbidden token {ids}: this model has only {vocabulary:,} tokens."
ORDER_SAME = (
    "**The order matters.** With these settings {now} can be drawn. If the temperature came last, "
    "after the cuts, {other} could, and {share} of the probability would lie on other tokens."
)
ORDER_NOTHING = (
    "**The order can matter.** With these settings, temperature last gives the same distribution. "
    "Choose a temperature above 1 together with a top-p below 1 and look again."
)
ORDER_CHANGED = (
    "**Your order** ({order}) lets {now} be drawn; the usual one (penalties, temperature, then the "
    "cuts) {other}. {share} of the probability lies on other tokens than there."
)
ORDER_CHANGED_SAME = (
    "**Your order** ({order}) gives the same distribution as the usual one with these settings."
)
TAIL_TEXT = (
    "The bars are {shown} of {vocabulary:,} tokens. The last line holds the other {rest:,}: one by "
    "one they are improbable, together they have {mass} in the model's own answer."
)
ASK_NUCLEUS = (
    "Look at the first column only. How many tokens does it take, from the most probable down, to "
    "gather {p:.0%} of the probability?"
)
ASK_NUCLEUS_REASON = "{n} reach {p:.0%}: that is the set that top-p = {p:g} would keep here."
ASK_NUCLEUS_WRONG = "The {n} most probable tokens have {mass} together."
