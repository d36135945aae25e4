"""The words of chapter "Masks"."""

TITLE = "Who may look at whom"
TEXT = (
    "A mask forbids cells before the softmax, by −∞: e to the power of −∞ is 0, so the rest of the "
    "row shares everything. Below, your mask stands beside the right one, the causal; every "
    "difference is said in words."
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
    "none": "Everyone sees everyone. Right for reading a finished text, as an encoder does.",
    "causal": "Each token sees itself and what came before. Right for guessing the next token.",
    "off_by_one": (
        "**A mistake:** the diagonal moved one column too far. Each token sees the very token "
        "that it should guess; the loss falls to nearly nothing and nothing is learned."
    ),
    "padding": (
        "Short texts in a [[batch]] are filled up at the end. Nobody may look at the filling, "
        "though it looks at the text itself; its own rows are thrown away."
    ),
    "sliding": (
        "Each token sees only the last few. Long texts become cheap, and what is further back "
        "can still arrive through several layers."
    ),
    "own": "Tick who may look at whom. A row without a tick is refused.",
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
        "**Two softmaxes.** The first one has already divided by the scores of the forbidden "
        "cells, so they leak into every share; and a softmax of numbers between 0 and 1 is almost "
        "flat."
    ),
    "leave": (
        "**Masked after the softmax.** Rows no longer add up to 1: what the forbidden cells would "
        "have got is lost, so a token that has seen little says little."
    ),
    "renormalise": (
        "**Masked after the softmax, then divided by the row's new sum.** The denominator with "
        "the forbidden cells in it cancels: these are the weights that the mask before the softmax "
        "gives. With dropout or another rounding in between, they would not be."
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
    "model": "**Divided by √{width}, the width of {heads} heads together, not √{size}:** rows "
    "become too even.",
    "none": "**Not divided:** rows become too sharp, the more so the larger the head.",
}
MASK_SEES = "“{who}” now sees “{whom}”, and takes {share} from it."
MASK_BLIND = "“{who}” no longer sees “{whom}”, which it gave {share}."
MASK_MORE = "… and {count} more cells."
MASK_CHANGED = (
    "The weights differ from the right ones by up to {change}; the largest of a row goes from "
    "{right:.1%} to {now:.1%} on average."
)
MASK_EQUAL = "These are the right weights, cell for cell."
MASK_SUMS = "Row sums now: {sums}."
MASK_LEAK = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they move by up to {leak}."
)
MASK_TIGHT = (
    "**Does anything leak?** Raise every forbidden score by 1 and look at the allowed weights: "
    "they do not move at all."
)
RIGHT_ONE = "the right weights"
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
