"""What the chapter on the loss says."""

TITLE = "What the loss is"
TEXT = (
    "The model reads a text token by token, and before each one it spreads a probability over "
    "its whole [[vocabulary]]. Then it is told which [[token]] came. What it gave to that one "
    "token is all that counts: the less, the higher the [[cross-entropy|loss]]."
)
SENTENCE = "Once there was an ancient innkeeper called Fergus Thistleworth."
SENTENCE_LABEL = "The text to predict"
USE_MY_TEXT, USE_OWN = "Take my text", "Take the example"

STRIP_NAME = "each token by its loss"
STRIP_VALUE = "nats"
CARD_P, CARD_NATS, CARD_FIRST = "probability", "loss, nats", "the model's favourite"

BLIND_GUESS = (
    " Giving all {vocabulary:,} tokens the same probability costs ln {vocabulary:,} = {blind:.2f} "
    "each time."
)
EXTREMES = (
    "The lowest loss is that of {easy}, which the model gave {easy_p}, the highest that of {hard}: "
    "{hard_p}, a loss of **{hard_nats:.2f} nats**." + BLIND_GUESS
)
EXTREMES_SAME = (  # one token, or all with the same loss
    "The model gave {hard} {hard_p}, a loss of **{hard_nats:.2f} nats**." + BLIND_GUESS
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

OTHERS = "{count:,} others"
POSITION = "before"
LABELS = {
    "logits": ("logits", "what the model says"),
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
    "logits": "The model's logits before each target. The tokens of the text have a column each; "
    "the last one stands for the {others:,} others, as the logarithm of their summed exponentials.",
    "probabilities": "Softmax turns each row into probabilities: e to the logit, divided by the "
    "row's sum.",
    "p": "Of each row only one cell counts: that of the token which really came.",
    "ln": "Its logarithm: 0 for certainty, far below for what was thought unlikely.",
    "nats": "Minus that is what the token costs, in nats.",
    "w": "Each position counts once, unless it is left out or its token has a weight.",
    "parts": "What each position adds to the loss.",
    "loss none": "Reduction “none” stops here: the loss is this list.",
    "loss sum": "The sum of the parts is the loss.",
    "loss mean": "The sum, divided by the weights that were counted, is the loss.",
}
NOTE = "{token}: the model gave it {p}, which costs {nats:.3f} nats."
NOTE_SKIPPED = "{token} is left out: it costs {nats:.3f} nats, and nobody counts them."

RESULT = {
    "mean": "The loss is **{loss:.4f} nats per token**.",
    "sum": "The loss is **{loss:.4f} nats** for {counted} together. A longer text has a larger "
    "sum, so sums can be compared only where the same tokens were counted.",
    "none": "There is no single loss: each of the {positions} keeps its own.",
}
AGREES = "`torch.nn.functional.cross_entropy` gives {torch}; the difference is {apart}."
SAME_LIST, NO_DIFFERENCE = "the same list", "0"
ALMOST = "more than 99.9 %"
HARDLY = "less than 0.01 %"
PERPLEXITY = (
    "The [[perplexity]] is e to the power of the plain mean, e^{plain:.4f} = **{value:.2f}**: the "
    "model hesitates as if between {value:.1f} equally likely tokens."
)
SMOOTHED = (
    "With ε = {eps:g} the target is no longer one token alone: a share of {eps:.0%} is spread "
    "evenly over all {vocabulary:,} tokens, the right one among them. Certainty now costs "
    "something even where it is right. So this loss cannot be compared with one without "
    "smoothing, and e to its power is no perplexity."
)
WEIGHTED = (
    "{token} has the weight {weight:g}. The mean divides by the sum of the weights, {divisor:g}, "
    "not by the number of positions."
)

ASK = "The model gave one token a probability of {p}. What would it cost at half that probability?"
ASK_EXAMPLE = (
    "Suppose that a model gave a token a probability of {p}. What would it cost at half that "
    "probability?"
)
ASK_MORE = "{nats:.2f} + ln 2 = {more:.2f} nats"
ASK_DOUBLE = "2 × {nats:.2f} = {double:.2f} nats"
ASK_HALF = "{nats:.2f} ÷ 2 = {half:.2f} nats"
ASK_YES = (
    "−ln(p ÷ 2) = −ln p + ln 2: half the probability costs {ln2:.2f} nats more, whatever p was. "
    "That is one bit."
)
ASK_NO_DOUBLE = "Doubling the cost would square the probability: {p} becomes {square}."
ASK_NO_HALF = "Less probability never costs less."

# ---- mistakes

MISTAKES_TITLE = "Losses that look fine"
MISTAKES_TEXT = (
    "Each of these runs without an error and gives a number. Here are the numbers for the text "
    "above."
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
        "A model that is trained so learns to copy, and its loss goes towards zero."
    ),
    "probabilities": (
        "**Probabilities go where logits belong.** `cross_entropy` takes the softmax itself, and "
        "now it is taken twice. The loss is {wrong:.2f} instead of {right:.2f}. Whatever the model "
        "says, it lies between ln(V − 1 + e) − 1 = {lowest:.2f}, for a perfect model, and "
        "{highest:.2f}, one nat more. A loss that hardly moves is the sign."
    ),
    "rows": (
        "**Rows that do not add up to 1.** A sigmoid of each logit is no distribution: here the "
        "sums of the rows lie between {low:,.1f} and {high:,.1f}. The loss is {wrong:.2f} instead "
        "of {right:.2f}, and a model can lower it by raising all logits at once."
    ),
    "column": (
        "**The wrong column.** Ids counted from 1, columns from 0: each target's neighbour is "
        "read. The loss is {wrong:.2f} instead of {right:.2f}. {sign}"
    ),
    "classes": (
        "**Divided by the number of tokens in the vocabulary** ({vocabulary:,}) instead of the "
        "number of positions ({positions:,}). The loss is {wrong:.4f} instead of {right:.4f}: "
        "{sign} The sign is that it grows with the number of positions in the batch."
    ),
    "perplexity": (
        "**The perplexity of another loss than the one shown.** Perplexity is e to the mean loss "
        "in nats: e^{right:.3f} = {good:.2f}. Taken of the sum, it is {of_sum}; with 2 for e, "
        "{base_two:.2f}; of a loss with label smoothing 0.1, {smooth:.2f}; averaged over the "
        "tokens' own perplexities, {mean_of:.2f}. Only the first can be compared."
    ),
}
COLUMN_SIGN = {
    True: "That is more than the ln V = {blind:.2f} of blind guessing, which is the sign.",
    False: (
        "Mostly it is then more than the ln V = {blind:.2f} of blind guessing, which would be the "
        "sign. On this text it is not."
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
    "Somebody reports a loss of **{wrong:.3f}** for this text and this model. The right one is "
    "{right:.3f}, ln V is {blind:.3f}. Which mistake was it?"
)
SPOT_RIGHT = "With “{name}” the loss is {value:.3f}: that is the number."
SPOT_WRONG = "“{name}” would have given {value:.3f}."

TWIN_TITLE = "Trained without the shift"
TWIN_TEXT = (
    "Two transformers, same names, same settings, each trained by the command on its card. One "
    "got the next letter as its target, the other the letter itself."
)
TWIN_COLUMNS = {
    "name": "model",
    "steps": "steps",
    "reported": "loss while training",
    "honest": "loss on the next letter",
    "sample": "what it writes",
}
TWIN_READ = (
    "`{wrong}` reports a validation loss of {reported:.5f} nats after {steps:,} steps. It is very "
    "perfect at a task that is worth nothing. Asked for the letter that comes **next**, it pays "
    "{honest:.2f} nats; blind guessing pays {blind:.2f}. A loss near zero on new text is the sign "
    "that the answer stood in the input."
)
TWIN_SAMPLE_EMPTY = "(nothing: after the start token it gives the start token again)"
TWIN_CAPTION = "Made by `{one}` and `{two}`."
