"""The words of chapter "Masks"."""

TITLE = "Who may look at whom"
TEXT = (
    "A mask forbids cells: their scores become −∞ before the softmax. e to the power of −∞ is 0, "
    "so the other cells of the row share everything. Below, the weights under your mask stand "
    "beside those under the causal mask, the right one for predicting the next token."
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
    "none": "Every token sees every token. Right for reading a finished text, as an encoder does.",
    "causal": "Each token sees itself and what came before. Right for predicting the next token.",
    "off_by_one": (
        "**A mistake:** the mask begins one column too late. Each token sees the very token that "
        "it should predict: the loss falls to nearly zero, because copying is enough."
    ),
    "padding": (
        "Short texts in a [[batch]] are filled up at the end. No token may look at the filling. "
        "The filling's own rows look at the text, but they are not used."
    ),
    "sliding": (
        "Each token sees only the last few, itself included. Long texts then take less work. A "
        "token further back can still have an effect, through several layers."
    ),
    "own": "Tick the cells that are allowed. A row without a tick is refused.",
}
MASK_WINDOW = "Window, tokens"
MASK_REAL = "Real tokens"
MASK_REAL_BAD = (
    "Of {count} tokens, 1 to {count} can be real; {real} was asked for. With none, every row would "
    "have nothing to look at."
)
WHEN_LABEL = "Softmax"
WHEN = {
    "before": "After the mask (right)",
    "softmax_again": "Before it, and again",
    "leave": "Before it, only",
    "renormalise": "Before it, then ÷ row sum",
}
WHEN_TEXT = {
    "before": "",
    "softmax_again": (
        "**Two softmaxes.** The first one has already divided by a sum that contains the forbidden "
        "cells, so they leak into every share. And the second one gets numbers between 0 and 1: "
        "no share in a row can be more than e ≈ 2.7 times another."
    ),
    "leave": (
        "**Masked after the softmax.** Rows no longer add up to 1: what the forbidden cells would "
        "have got is lost. Rows with few allowed cells may lose most, and their context is small."
    ),
    "renormalise": (
        "**Masked after the softmax, then divided by the row's new sum.** The denominator with "
        "the forbidden cells in it cancels: the weights are the same as with the mask before the "
        "softmax. With dropout in between, they would not be."
    ),
}
# Why a cell is forbidden, as its arithmetic says.
REASONS = {
    "none": "",
    "causal": "it lies ahead",
    "off_by_one": "it lies two or more ahead",
    "padding": "it is filling",
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
    "model": "**Divided by √{width}, the width of {heads} heads together, not √{size}:** with "
    "random vectors, rows become too even.",
    "none": (
        "**Not divided:** with random vectors, rows become too sharp, and more so in larger heads."
    ),
}
MASK_SEES = "“{who}” now sees “{whom}”, and takes {share} from it."
MASK_BLIND = "“{who}” no longer sees “{whom}”, which it gave {share}."
MASK_MORE = "… and {count} more cells."
MASK_CHANGED = (
    "The weights differ from those under the causal mask by up to {change}; the largest of a row "
    "goes from {right:.1%} to {now:.1%} on average."
)
MASK_EQUAL = "These are the same weights as under the causal mask, cell for cell."
MASK_SUMS = "Row sums now: {sums}."
MASK_LEAK = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they move by up to {leak}."
)
MASK_TIGHT = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they do not move at all."
)
RIGHT_ONE = "weights, causal mask"
ASK_MASK = (
    "Which mask is this? All scores of these {count} tokens were equal, so the shares alone tell."
)
ASK_MASK_ANSWERS = {
    "causal": ("Causal", "Each row has all columns up to its own, and none after it."),
    "none": ("None", "Without a mask, no cell is empty."),
    "sliding": (
        "Sliding window of 2",
        "Row 0 has one cell. All others have two: the token itself and the one before.",
    ),
    "padding": ("Padding after {real}", "The last columns are empty in *every* row: filling."),
    "off_by_one": (
        "Causal, off by one",
        "Row 1 has a weight in column 2: it sees what comes next.",
    ),
}
CODE_MASK = "Show the code of masks"
