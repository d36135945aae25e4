"""The texts of the chapter on the loss."""

from llmviz.lessons.training import LESSON

TITLE = LESSON.title_of("loss")
TEXT = (
    "The model reads a text token by token. Before each one it gives every token of its "
    "[[vocabulary]] a probability. Then it reads which [[token]] came. The lower the probability "
    "that it gave to this token, the higher the [[cross-entropy|loss]]."
)
SENTENCE = "Once there was an ancient innkeeper called Fergus Thistleworth."
SENTENCE_LABEL = "The text to predict"
USE_MY_TEXT, USE_OWN = "Take my text", "Take the example"

STRIP_NAME = "each token by its loss"
STRIP_VALUE = "nats"
CARD_P, CARD_NATS, CARD_FIRST = "probability", "loss, nats", "most probable token"

BLIND_GUESS = (
    " With the same probability for all {vocabulary:,} tokens each loss is ln {vocabulary:,} = "
    "{blind:.2f}."
)
EXTREMES = (
    "The lowest loss is that of {easy}: the model gave it a probability of {easy_p}. The highest "
    "is that of {hard}: a probability of {hard_p}, a loss of **{hard_nats:.2f} nats**."
    + BLIND_GUESS
)
EXTREMES_SAME = (  # one token, or all with the same loss
    "The model gave {hard} a probability of {hard_p}, a loss of **{hard_nats:.2f} nats**."
    + BLIND_GUESS
)

# ---- controls

REDUCTION = "Reduction"
REDUCTIONS = {"mean": "mean", "sum": "sum", "none": "none"}
SKIP = "Left out (ignore_index)"
CLASS, CLASS_NONE = "A token that counts more or less", "none"
CLASS_WEIGHT = "Its weight"
SMOOTHING = "Label smoothing ε"
BAD_MEAN = "Nothing is left to average: every position is left out or weighs 0."

# ---- the matrices

OTHERS, OTHER = "{count:,} others", "1 other"
POSITION = "after"
LABELS = {
    "logits": ("logits", "a score for each token"),
    "probabilities": ("probabilities", "softmax of each row"),
    "p": ("p", "of the target"),
    "ln": ("ln p", ""),
    "nats": ("−ln p", "nats"),
    "w": ("weight", "0: left out"),
    "weighted": ("weighted", ""),
    "hard": ("(1 − ε) ×", "of the target"),
    "spread": ("spread", "mean −ln p of all tokens"),
    "spread weighted": ("spread", "mean weighted −ln p of all tokens"),
    "soft": ("ε ×", "of all tokens"),
    "parts": ("parts", ""),
    "total": ("Σ parts", "nats"),
    "divisor": ("Σ weights", ""),
    "loss": ("loss", "nats"),
}
STEPS = {
    "logits": "The model's logits before each target. Each token of the text has a column.{rest}",
    "probabilities": "Softmax turns each row into probabilities. Each is e to the power of its "
    "logit, divided by the sum of these powers in its row.",
    "p": "Of each row only one cell counts: that of the token that came.",
    "ln": "Its logarithm. It is 0 where p is 1, and far below 0 where p is small.",
    "nats": "The same with a minus sign: the token's loss, in nats.",
    "w": "Each position counts once, unless it is left out or its token has its own weight.",
    "parts": "What each position adds to the loss.",
    "loss none": "Reduction “none” stops here: the loss is this list.",
    "loss sum": "The sum of the parts is the loss.",
    "loss mean": "The sum of the parts, divided by the sum of the weights, is the loss.",
}
STEP_OTHERS = (
    " The last column stands for the {count:,} other tokens: it is the logarithm of the sum of "
    "their exponentials."
)
STEP_OTHER = " The last column is the one other token of the vocabulary."
NOTE = "{token}: the model gave it {p}, a loss of {nats:.3f} nats."
NOTE_SKIPPED = "{token} is left out: its {nats:.3f} nats are not counted."

RESULT = {
    "mean": "The loss is **{loss:.4f} nats per token**.",
    "weighted mean": "The loss is **{loss:.4f} nats**, a weighted mean.",
    "sum": (
        "The loss is **{loss:.4f} nats** for {counted} together. Each further token adds to the "
        "sum. So two sums can be compared only if they are over the same tokens."
    ),
    "none": "There is no single loss: each of the {positions} keeps its own.",
}
AGREES = "`torch.nn.functional.cross_entropy` gives {torch}; the largest difference is {apart}."
SAME_LIST, NO_DIFFERENCE = "the same list", "0"
ALMOST = "more than 99.9 %"
HARDLY = "less than 0.01 %"
PERPLEXITY = (
    "The [[perplexity]] is e to the power of the plain mean: e^{plain:.4f} = **{value:.2f}**. On "
    "average the model is as uncertain as between {value:.1f} equally likely tokens."
)
SMOOTHED = (
    "With ε = {eps:g} the target is no longer a single token. A share of {share} is spread evenly "
    "over all {vocabulary:,} tokens, including the right one. Now even a certain and right model "
    "has a loss. So this loss cannot be compared with one without smoothing, and e to the power of "
    "it is no perplexity."
)
WEIGHTED = (
    "{token} has the weight {weight:g}. The mean divides by the sum of the weights, {divisor:g}, "
    "not by the number of positions."
)

ASK = (
    "The model gave one token a probability of {p}. What would its loss be at half that "
    "probability?"
)
ASK_EXAMPLE = (
    "Suppose that a model gave a token a probability of {p}. What would its loss be at half that "
    "probability?"
)
ASK_MORE = "{nats:.2f} + ln 2 = {more:.2f} nats"
ASK_DOUBLE = "2 × {nats:.2f} = {double:.2f} nats"
ASK_HALF = "{nats:.2f} ÷ 2 = {half:.2f} nats"
ASK_YES = (
    "−ln(p ÷ 2) = −ln p + ln 2: half the probability adds {ln2:.2f} nats to the loss, whatever p "
    "was. That is one bit."
)
ASK_NO_DOUBLE = "The loss doubles when the probability is squared: {p} becomes {square}."
ASK_NO_HALF = "A lower probability never has a lower loss."

# ---- mistakes

MISTAKES_TITLE = "Losses that look fine"
MISTAKES_TEXT = (
    "Each of these mistakes runs without an error message and gives a number. Here are the numbers "
    "for the text above."
)
MISTAKE = "The mistake"
MISTAKES = {
    "shift": "No shift",
    "probabilities": "Softmax twice",
    "rows": "Sigmoid for softmax",
    "column": "Wrong column",
    "classes": "Divided by V",
    "perplexity": "Wrong perplexity",
}
MISTAKE_TEXT = {
    "shift": (
        "**The target is the input.** Without the shift by one, the model is asked for the token "
        "that it has just read. On this text that gives {wrong:.2f} nats instead of {right:.2f}. "
        "A model that is trained this way learns to copy, and its loss goes towards zero."
    ),
    "probabilities": (
        "**Probabilities where logits belong.** `cross_entropy` takes the softmax itself, so now "
        "it is taken twice. The loss is {wrong:.2f} instead of {right:.2f}. It cannot be lower "
        "than ln(V − 1 + e) − 1 = {lowest:.2f}, the value for a model that is certain and right. "
        "It cannot be higher than {highest:.2f}, one nat more. The sign of this mistake: the loss "
        "hardly changes."
    ),
    "rows": (
        "**Rows that do not add up to 1.** A sigmoid of each logit gives no distribution: {sums}. "
        "The loss is {wrong:.2f} instead of {right:.2f}, and a model can lower it by raising all "
        "logits at once."
    ),
    "column": (
        "**The wrong column.** The ids were counted from 1 and the columns from 0, so the column "
        "beside the target's is read. The loss is {wrong:.2f} instead of {right:.2f}. {sign}"
    ),
    "classes": (
        "**Divided by the number of tokens in the vocabulary** ({vocabulary:,}) instead of the "
        "number of positions ({positions:,}). The loss is {wrong:.4f} instead of {right:.4f}: "
        "{sign} The sign of this mistake: the loss grows with the number of positions in the batch."
    ),
    "perplexity": (
        "**The perplexity of another loss.** Perplexity is e to the power of the mean loss in "
        "nats: e^{right:.3f} = {good:,.2f}. From the sum of the losses it would be {of_sum}. With "
        "2 in place of e it would be {base_two:,.2f}. From a loss with label smoothing 0.1 it "
        "would be {smooth:,.2f}. The mean of the tokens' own perplexities is {mean_of:,.2f}. Only "
        "the first can be compared with other perplexities."
    ),
}
SUMS = "the sums of the rows lie between {low:,.1f} and {high:,.1f} here"
SUMS_ONE = "the sum of the row is {high:,.1f} here"
COLUMN_SIGN = {
    "above": (
        "That is more than the ln V = {blind:.2f} of blind guessing: a sign that something is "
        "wrong."
    ),
    "below": (
        "A loss above the ln V = {blind:.2f} of blind guessing would be a sign that something is "
        "wrong. On this text it is not above."
    ),
    "both above": (
        "Often a loss above the ln V = {blind:.2f} of blind guessing is a sign of a mistake. On "
        "this text it is not: the right loss is above it, too."
    ),
}
CLASSES_SIGN = {
    "fewer": "too small, as there are fewer positions than tokens in the vocabulary.",
    "equal": "no difference here, as there happen to be as many positions as tokens.",
    "more": "too large, as there are more positions than tokens in the vocabulary.",
}
CHART_RIGHT, CHART_WRONG, CHART_BLIND, CHART_LOWEST = (
    "right",
    "with the mistake",
    "ln V, blind guessing",
    "the least it can show",
)
CHART_PERPLEXITIES = {
    "good": "e to the mean loss",
    "base_two": "2 to the mean loss",
    "smooth": "e to a smoothed loss",
    "mean_of": "mean of the tokens' own",
}
CHART_AXIS, CHART_AXIS_PERPLEXITY = "nats per token", "perplexity (logarithmic)"

SPOT = (
    "A report says that this model has a loss of **{wrong:.3f}** on this text. The right loss is "
    "{right:.3f}, ln V is {blind:.3f}. Which mistake gives the reported number?"
)
SPOT_RIGHT = "With “{name}” the loss is {value:.3f}: that is the number."
SPOT_WRONG = "“{name}” gives {value:.3f}."

TWIN_TITLE = "Trained without the shift"
TWIN_TEXT = (
    "Two transformers were trained on the same names with the same settings, each with the command "
    "on its card. One got the next letter as its target, the other the letter itself."
)
TWIN_COLUMNS = {
    "name": "model",
    "steps": "steps",
    "reported": "loss while training",
    "honest": "loss on the next letter",
    "sample": "what it writes",
}
TWIN_READ = (
    "`{wrong}` reports a validation loss of {reported:.5f} nats after {steps:,} steps. It has "
    "learned to copy, which is of no use. For the letter that comes **next** its loss is "
    "{honest:.2f} nats; that of blind guessing is {blind:.2f}. A loss near zero on new text is a "
    "sign that the answer was in the input."
)
TWIN_SAMPLE_EMPTY = "(nothing: after the start token it gives the start token again)"
TWIN_CAPTION = "Made by `{one}` and `{two}`."
