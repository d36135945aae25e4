"""All that the chapter "LoRA" says. Names in braces are filled in with live numbers."""

TITLE = "A small change beside a large matrix"
TEXT = (
    "Full fine-tuning changes every number of a model, and each task then needs a whole model of "
    "its own. [[LoRA]] (low-rank adaptation) leaves each trained matrix W as it is and learns a "
    "change beside it. The change is the product of two thin matrices, B and A, so it has few "
    "numbers of its own. All B and A of a model together are an **adapter**. Here you look into "
    "one."
)
ADAPTER = "Adapter"
ADAPTERS = {"instructions": "answers questions", "few-shot": "reads rules from examples"}
LAYER = "Layer"
MATRIX = "Matrix"
MATRICES = {
    "attn.qkv": "queries, keys, values",
    "attn.projection": "attention's output",
    "mlp.hidden": "feed-forward, first",
    "mlp.output": "feed-forward, second",
}
FROM_ROW = "From row"
FROM_COLUMN = "From column"
PLACES = "The picture opens where the change is largest. Any other part can be chosen."
PART = (
    "W has {rows:,} rows and {columns:,} columns. Shown are {shown_rows} × {shown_columns} of its "
    "cells, from row {row:,} and column {column:,} on. B has {rank} columns and A has {rank} rows: "
    "the **rank** r is {rank}."
)
LABELS = {"W": "W", "A": "A", "B": "B", "BA": "B·A", "added": "change", "sum": "W in effect"}
FORMULAS = {"BA": "B · A", "added": "(α/r) · B·A", "sum": "W + change"}
STEPS = {
    "W": "W was learned in pretraining. It is frozen: fine-tuning does not touch it.",
    "AB": "B begins at zero and A at random numbers, so a new adapter changes nothing. Both learn.",
    "BA": "The product B·A has as many rows and columns as W. A cell is a row of B times a column "
    "of A.",
    "added": (
        "It is multiplied by α/r = {alpha:g}/{rank} = {scale:g}. α and r are chosen before "
        "training. The larger α/r, the more the product counts."
    ),
    "sum": (
        "W plus the change is what the model computes with. Click a cell to keep its arithmetic."
    ),
}
SCALED = "× α/r = {scale:g}"
SIZE = (
    "In this part the largest number of W is {weight:.3f} and that of the change {added:.3f}, both "
    "without their signs. Over the whole matrix the change is {share} as long as W (the root of "
    "the sum of all squares)."
)

ASK = (
    "W has {rows:,} × {columns:,} = {whole:,} numbers. How many numbers does LoRA with rank {rank} "
    "train for it?"
)
ASK_RIGHT = (
    "B has {rows:,} × {rank} numbers and A has {rank} × {columns:,}: {rank} × ({rows:,} + "
    "{columns:,}) = {right:,}, which is {share} of W."
)
ASK_WRONG = {
    "product": "B·A has that many cells, but all of them follow from the numbers of B and A.",
    "one": "That is A alone. B is learned, too.",
    "cells": "Nothing of W is trained, and B and A have more numbers than r × r.",
}

RANK_TITLE = "How much fits into a rank?"
RANK_TEXT = (
    "Any matrix is a sum of simple matrices, each a column times a row. Their sizes are its "
    "**singular values**, the largest first. The sum of the first r of them is the nearest matrix "
    "of rank r: no B and A can come nearer. Move the slider: what is left over gets smaller with "
    "each rank, until nothing is left."
)
CHANGE = "Whose change"
CHANGES = {
    "adapter": "the adapter above",
    "all": "full fine-tuning (trained below)",
    "lora": "LoRA (trained below)",
}
NOT_TRAINED = (
    "That change exists once the training below has run. Until then you see that of the adapter."
)
RANK_STAGE = "Rank {rank} holds {held}"
RANK_LABELS = {"b": "B", "a": "A", "part": "nearest", "left": "left over", "change": "change"}
RANK_PART_FORMULA = "rank {rank}"
RANK_LEFT_FORMULA = "change − nearest"
RANK_CAPTION = (
    "With rank {rank}, {numbers:,} numbers stand for {whole:,} ({share}). They hold {held} of the "
    "change's squared length; {left} is left over. Shown are {shown} × {shown} cells; the shares "
    "are of the whole matrix."
)
SPECTRUM_AXES = ("number of the singular value, the largest first", "share of the largest")
SPECTRUM_NAMES = {
    "adapter": "the adapter, r = {rank}",
    "all": "full fine-tuning",
    "lora": "LoRA, r = {rank}",
}
SPECTRUM_READ = (
    "{name}: the first {few} singular values hold {held} of the squared length. Of its {all} "
    "singular values {count} are above a millionth of the largest."
)
RANK_ASK = (
    "This change was learned with rank {rank}. How many of its {all} singular values are not zero "
    "(above a millionth of the largest)?"
)
RANK_RIGHT = "It has {right}. B·A is a sum of {rank} matrices of rank 1, so it can have no more."
RANK_RIGHT_LESS = (
    "It has {right}. B·A is a sum of {rank} matrices of rank 1. It can have no more, and it may "
    "have fewer."
)
RANK_WRONG = (
    "It has {right} by this count. A sum of {rank} matrices of rank 1 has {rank} at most; the "
    "others come from rounding."
)

COUNT_TITLE = "What it saves"
COUNT_TEXT = (
    "Choose a rank and the matrices that get an adapter, in all layers. The table counts what is "
    "trained. For each such number there is a gradient, and the optimizer (AdamW) keeps two more."
)
RANK = "Rank r"
TARGETS = "Matrices with an adapter"
NO_TARGETS = "No matrix is chosen, so nothing would be trained. Choose one or more above."
COUNT_COLUMNS = (
    "training",
    "numbers trained",
    "share",
    "gradients",
    "optimizer",
    "file (16 bits)",
)
COUNT_ROWS = ("every weight", "LoRA, r = {rank}")
MIB = "{size:,.2f} MiB"
COUNT_READ = (
    "LoRA trains **{share}** of the numbers. A step does not get faster by as much: the forward "
    "pass and the way back through the layers are still needed. LoRA saves memory for gradients "
    "and optimizer, and space on the disk for each task."
)

RACE_TITLE = "The same task, both ways"
RACE_TEXT = (
    "A new head sorts stories into classes, and the right class of each story is known exactly. It "
    "is trained twice from the same base on the same stories: once with LoRA beside all matrices "
    "of the blocks, once with every weight free. Both take turns, update by update, in a process "
    "of their own."
)
TASK = "Stories are sorted by"
TASKS = {
    "ending": "how they end",
    "mood": "the mood at the end",
    "about": "what they are about",
    "who": "whom they are about",
}
UPDATES = "Updates"
RACE_START = "Train both"
RACE_COST = (
    "Each update reads {batch} stories, in both trainings. Where the bundled adapters were made, "
    "{updates} updates of both would take about {seconds:.0f} seconds; how long it took here is "
    "said below."
)
WAYS = {"lora": "LoRA", "all": "every weight"}
RACE_AXES = ("updates", "loss, nats per story")
RACE_NAMES = ("{way}, held-out stories", "{way}, the batch")
RACE_ENDED = (
    "**{name}**: {accuracy} of {tested} right, {trained} numbers trained, "
    "{seconds:.1f} seconds in {updates} updates."
)
RACE_RATIO = (
    "An update with LoRA took {ratio:.2f} times as long as one of every weight, measured in turns "
    "on this machine. It trained {share} of the numbers."
)
RACE_THEN = (
    "The changes that both have learned can now be chosen above, under “How much fits into a rank?”"
)

MERGE_TITLE = "Merged, and taken out again"
MERGE_TEXT = (
    "An adapter need not cost time in use: W + (α/r)·B·A can be computed once and take the place "
    "of W. That is called merging. The model below reads your text both ways."
)
MERGE_READ = (
    "On {tokens} and all their logits, the largest difference between the two is "
    "**{largest:.1e}**; the largest logit is {logit:.1f}. That is rounding: a 32-bit number has "
    "about seven digits, and the sums are taken in another order. {back} The pass took {slow:.1f} "
    "ms with the adapter beside W and {fast:.1f} ms merged (time of the processor, measured once, "
    "for this text)."
)
MERGE_BACK = "Taken out again, every weight is what it was, bit for bit."
MERGE_NOT_BACK = "Taken out again, some weights are not what they were."
SWITCH_TITLE = "One base, several adapters"
SWITCH_TEXT = (
    "Both adapters stand beside the same base. Switching only says which of them is added: no "
    "weight is loaded or changed. The same text goes through the base alone and with each adapter."
)
PROMPT = "Text"
EXAMPLES = "Examples of texts"
_STORY = (
    "One winter morning, Otto Thistleton the archer woke up happy. The best friend he had was "
    "Esme Saffronfield, a famous vet. They met at the market."
)
PROMPTS = {
    "A question": _STORY + "\nQuestion: Where did they meet?\nAnswer:",
    "A rule": "hat red, cap red, apples blue, pears blue, coat red, plums",
    "A story": _STORY,
}
BASE_ALONE = "the base alone"
NOTHING = "(nothing: it ends the text at once)"
MEMORY = (
    "The base has {base} numbers, each adapter {each}: all {models} models together take "
    "{ratio:.2f} times the memory of one."
)
EMPTY = "There is no text yet. Type something above, or take one of the examples."
