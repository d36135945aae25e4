"""The words of chapter "Masks"."""

TITLE = "Which token may look at which"
TEXT = (
    "A mask forbids cells: their scores become −∞ before the softmax. e to the power of −∞ is 0, "
    "so the other cells of the row share everything. Below, you see the weights with your mask. "
    "Beside them are the weights with the causal mask, which is the right mask for predicting the "
    "next token."
)
MASK_CHOICE = "Mask"
MASKS = {
    "none": "None",
    "causal": "Causal",
    "off_by_one": "Off by one",
    "padding": "Padding",
    "sliding": "Sliding window",
    "own": "Your own",
}
MASK_TEXT = {
    "none": (
        "Every token sees every token. This is right for reading a finished text, as an encoder "
        "does."
    ),
    "causal": (
        "Each token sees itself and the tokens before it. This is right for predicting the next "
        "token."
    ),
    "off_by_one": (
        "**A mistake:** the mask begins one column too late. So each token sees the token that it "
        "should predict. In training, the loss falls to nearly zero, because copying is enough."
    ),
    "padding": (
        "Short texts in a [[batch]] get padding tokens, here at their end. No token may look at "
        "the padding. The rows of the padding tokens are computed, but nothing uses them."
    ),
    "sliding": (
        "Each token sees only the last few tokens, itself included. This can save work on long "
        "texts. A token farther back can still have an effect, through several layers."
    ),
    "own": "Tick the cells that are allowed. Each row needs at least one tick.",
}
MASK_WINDOW = "Window, tokens"
MASK_REAL = "Real tokens"
MASK_REAL_BAD = (
    "Of {count} tokens, 1 to {count} can be real, but the number is {real}. With 0, no row would "
    "have a token to look at."
)
WHEN_LABEL = "Softmax"
WHEN = {
    "before": "After the mask (right)",
    "softmax_again": "Before the mask and after it",
    "leave": "Before the mask only",
    "renormalise": "Before the mask, then ÷ row sum",
}
WHEN_TEXT = {
    "before": "",
    "softmax_again": (
        "**Two softmaxes.** The first one divides by a sum that contains the forbidden cells. So "
        "these cells have an effect on every share of their row. The second softmax gets numbers "
        "between 0 and 1, so no allowed share of a row can be more than e ≈ 2.7 times another."
    ),
    "leave": (
        "**Masked after the softmax.** Rows with forbidden cells no longer add up to 1, because "
        "the shares of these cells are lost. Rows with few allowed cells may lose most of their "
        "weight."
    ),
    "renormalise": (
        "**Masked after the softmax, then divided by the row's new sum.** The first division "
        "cancels out, so the weights are the same as with the mask before the softmax. With "
        "dropout between mask and division, they would not be the same."
    ),
}
# Why a cell is forbidden, as its arithmetic says.
REASONS = {
    "none": "",
    "causal": "it lies ahead",
    "off_by_one": "it lies two or more ahead",
    "padding": "it is padding",
    "sliding": "it lies outside the window",
    "own": "it has no tick",
}
SCALE_LABEL = "Scores"
SCALES = {
    "head": "÷ √d of the head (right)",
    "model": "÷ √ of the model's width",
    "none": "As they are",
}
SCALE_TEXT = {
    "head": "",
    "model": (
        "**Divided by √{width}, the width of {heads} heads together, not by √{size}.** With random "
        "vectors, the weights of a row become too even."
    ),
    "none": (
        "**Not divided.** With random vectors, the weights of a row become too sharp. This effect "
        "is stronger in larger heads."
    ),
}
SCALE_ONE_HEAD = (
    "This model has one head in a layer. So √{width} is right, the root of its own size."
)
MASK_SEES = "“{asking}” now sees “{asked}”, and takes {share} from it."
MASK_BLIND = "“{asking}” no longer sees “{asked}”, from which it took {share}."
MASK_MORE = "… and {count} more cells."
MASK_CHANGED = (
    "The weights differ from the right ones (causal mask, ÷ √d) by up to {change}. The largest "
    "weight of a row is {now:.1%} on average. With the right weights it is {right:.1%}."
)
MASK_EQUAL = "In every cell, the weights are the same as the right ones (causal mask, ÷ √d)."
MASK_SUMS = "Row sums now: {sums}."
MASK_LEAK = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they change by up to {leak}."
)
MASK_TIGHT = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they do not change (by 0.00001 at most)."
)
RIGHT_ONE = "right: causal mask, ÷ √d"
ASK_MASK = (
    "Which mask is this? All scores of these {count} tokens were equal. So only the mask makes the "
    "cells different."
)
ASK_MASK_ANSWERS = {
    "causal": ("Causal", "Each row has all columns up to its own, and none after it."),
    "none": ("None", "Without a mask, no cell is empty."),
    "sliding": (
        "Sliding window of 2",
        "Row 0 has one cell. All others have two: the token itself and the one before.",
    ),
    "padding": ("Padding after {real}", "The last columns are empty in *every* row: padding."),
    "off_by_one": (
        "Causal, off by one",
        "Row 1 has a weight in column 2: it sees what comes next.",
    ),
}
CODE_MASK = "Show the code of masks"
