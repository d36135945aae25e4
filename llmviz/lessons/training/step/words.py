"""The texts of the chapter on one step of training."""

from llmviz.lessons.training import LESSON

TITLE = LESSON.title_of("step")
TEXT = (
    "Training repeats one step: take a batch, predict, measure the loss, compute gradients, change "
    "the weights. Here is one such step on your text, with all of its numbers. The model is a GPT "
    "with one layer and {width} numbers per token: small enough for its matrices to fit on a "
    "screen. A step of a large model has the same parts."
)
TOO_LONG = "The model is made from the first {limit:,} characters of your text."
ROWS, WIDTH, STEP = "Rows in the batch (B)", "Tokens in a row (T)", "Step"
OPTIMIZER, CLIP, SEED = "Optimizer", "Longest gradient", "Seed"
CLIP_HELP = "A longer gradient is shortened to this length. 0: it is never shortened."
OPTIMIZERS = {"sgd": "SGD", "adamw": "AdamW"}
END = "⟨end⟩"

# ---- the batch

BATCH_TITLE = "A batch"
BATCH_TEXT = (
    "The text has {vocabulary:,} different tokens: its characters and the special ones. The batch "
    "of step {step} is {rows} of the text, cut out at random. Below each row are its targets: the "
    "same row, one token later. So the batch has B × T = {rows_number} × {width} = {positions} "
    "positions, and each has a target."
)
INPUT, TARGET = "row {row}: input", "row {row}: target"
UNTRAINED = (
    "Before its first step the model has random weights, and it writes {sample}. Its loss is "
    "{loss:.3f} nats, near ln V = ln {vocabulary:,} = {blind:.3f}: it gives all tokens nearly the "
    "same probability."
)
NOTHING_WRITTEN = "(nothing)"

# ---- forward, loss, gradients

FORWARD_TITLE = "Forward, loss, gradients"
FORWARD_TEXT = (
    "Press play, or go from step to step. Click a cell to see its arithmetic; the link remembers "
    "the cell."
)
LABELS = {
    "head": ("W head", "one row a token"),
    "flat": ("logits, flattened", "(B, T, V) → (B·T, V)"),
    "p": ("p", "softmax of each row"),
    "chosen": ("p", "of the target"),
    "nats": ("−ln p", "nats"),
    "total": ("Σ", "nats"),
    "loss": ("loss", "mean, nats"),
    "minus y": ("−y", "−1 at the target"),
    "difference": ("p − y", ""),
    "upstream": ("∂loss/∂logits", "(p − y) ÷ (B·T)"),
    "turned": ("(∂loss/∂logits)ᵀ", "rows and columns exchanged"),
    "flat hidden": ("x, flattened", "(B, T, C) → (B·T, C)"),
    "gradient": ("∂loss/∂W head", "one row a token"),
}
HIDDEN, LOGITS = ("x, row {row}", "input of the head"), ("logits, row {row}", "x × W headᵀ")
POSITION = "after"
FORWARD_STEPS = {
    "hidden": "The model has read each row and computed {channels} numbers for every position, x. "
    "They go into its last layer, the head.",
    "logits": "The head scores every token: x times the head's matrix. Each row of the batch gives "
    "a matrix of T × V = {width} × {vocabulary} logits.",
    "flat": "For the loss it does not matter which row a position is in. So the rows are put one "
    "below the other: ({rows}, {width}, {vocabulary}) becomes ({positions}, {vocabulary}), and the "
    "targets become one list of {positions}.",
    "p": "Softmax turns each row of logits into probabilities.",
    "nats": "In each row one number counts: p, the probability of the target. The loss is −ln p.",
    "loss": "The loss of the batch is the mean over its {positions} positions.",
    "upstream": "Backward: the gradient of the logits is p − y, divided by {positions}, since the "
    "loss is a mean. y is 1 at the target and 0 elsewhere.",
    "gradient": "The gradient of the head's matrix: the gradients of the logits, times x. Going "
    "backwards, layer by layer, every other matrix gets its gradient, too.",
}
AGREES = (
    "The loss is **{loss:.4f} nats**. `loss.backward()` gives the same gradient of the head; the "
    "largest difference is {apart}."
)
ZERO = "0"

# ---- the update

UPDATE_TITLE = "Length, clipping, rate, update"
UPDATE_TEXT = (
    "The gradient has one number for each of the {parameters:,} weights. Before the update, a "
    "gradient that is too long is shortened, and the schedule sets the [[learning rate]]. The "
    "picture follows the weights of one token in the head."
)
TOKEN = "Row of the head"
STEEPEST = "the row with the largest gradient: {token}"
NORMS, SQUARES, SUM, NORM = "length", "length²", "Σ", "length of all together"
LIMIT, FACTOR = ("limit", "longest gradient"), "factor"
ROW, CLIPPED = "gradient", "gradient, clipped"
BEFORE, AFTER, MOVE = "weights before", "weights after", "step"
MEMORY = {
    "mean before": ("m before", "mean of gradients"),
    "mean kept": ("m kept", ""),
    "mean new": ("g added", ""),
    "mean": ("m", "mean of gradients"),
    "square": ("g²", ""),
    "squares before": ("v before", "mean of g²"),
    "squares kept": ("v kept", ""),
    "squares new": ("g² added", ""),
    "squares": ("v", "mean of g²"),
    "mean corrected": ("m̂", "m, corrected for its start at 0"),
    "squares corrected": ("v̂", "v, corrected for its start at 0"),
    "scale": ("ε + √v̂", ""),
    "ratio": ("m̂ ÷ (ε + √v̂)", ""),
    "decay": ("pull to zero", "−rate × λ × weight"),
}
UPDATE_STEPS = {
    "norms": "The length of each parameter's gradient: the root of the sum of its squares.",
    "norm": "The length of all of them together, again the root of the sum of squares: {norm:.4f}.",
    "clipped": "This is more than {clip:g}, so every gradient is multiplied by {clip:g} ÷ "
    "{norm:.4f} = {factor:.4f}. The direction stays the same.",
    "unclipped": "This is not more than {clip:g}, so nothing is shortened: the factor is 1.",
    "unlimited": "There is no limit here, so nothing is shortened: the factor is 1.",
    "sgd": "The rate of step {step} is {rate:.4g}. A step of SGD is −rate × gradient.",
    "memory": (
        "AdamW stores two means: of the gradients, and of their squares. The new mean is a share "
        "of the old mean plus a share of the new value."
    ),
    "adamw": "Both means began at 0, and the correction makes up for that. The step is −rate × m̂ "
    "÷ (ε + √v̂), with the rate of step {step}, {rate:.4g}.",
    "sgd after": "New weight = old weight + step: θ ← θ − η · ∇.",
    "adamw after": "New weight = old weight + pull to zero + step.",
}
SCHEDULE = (
    "The rate rises from 0 to {top:g} during the first {warmup} steps and then falls along a "
    "cosine to 0 at step {steps}. In step {step} it is {rate:.4g}."
)
WEIGHT = "One weight of the row of {token}, number {column}: its gradient is {gradient}{clipped}."
WEIGHT_CLIPPED = ", and {clipped} after clipping"
WEIGHT_NEW = {  # by optimizer
    "sgd": "Old weight − rate × gradient = new weight: {before} − {rate} × {clipped} = {after}.",
    "adamw": (
        "Old weight + pull to zero + step = new weight: {before} + {decay} + {step} = {after}."
    ),
}
LOSS_AFTER = {
    "lower": "The same batch again: its loss was {before:.4f}, now it is **{after:.4f}**, lower.",
    "higher": (
        "The same batch again: its loss was {before:.4f}, now it is **{after:.4f}**, higher. "
        "Only a small enough step against the gradient is sure to lower it."
    ),
    "equal": "The same batch again: its loss is still {after:.4f}.",
    "no rate": "The rate of the last step is 0, so no weight changed: the loss stays {after:.4f}.",
}
ASK_CLIP = (
    "The gradient of all weights has the length {norm:.3f}. The limit is {clip:g}. By which factor "
    "is every gradient multiplied?"
)
ASK_CLIP_DOWN = "{clip:g} ÷ {norm:.3f} = {down:.3f}"
ASK_CLIP_NOT = "1: it stays as it is"
ASK_CLIP_UP = "{norm:.3f} ÷ {clip:g} = {up:.3f}"
ASK_CLIP_REASONS = {
    "down, right": "It is longer than the limit. Multiplied by this it has exactly that length.",
    "down, wrong": "It is shorter than the limit. Clipping shortens; it never makes longer.",
    "not, right": "It is not longer than the limit, so it stays as it is.",
    "not, wrong": "It is longer than the limit, so it is shortened.",
    "up, long": "That would make it even longer.",
    "up, short": "It is shorter than the limit, so it stays as it is.",
}

# ---- the calls

CALLS_TITLE = "Which call does what"
CALLS_TEXT = (
    "The whole step is this function. The table follows its calls on the batch above, with a "
    "second `backward` put in between. It shows how far the weights moved in each call, and how "
    "long the gradient was after it."
)
CALLS = {
    "forward": ("model(inputs, targets)", "computes the loss"),
    "backward": ("loss.backward()", "adds a gradient for every weight"),
    "backward again": ("… once more, without zero_grad()", "adds it again: now it counts twice"),
    "zero_grad": ("optimizer.zero_grad()", "removes the gradients"),
    "backward anew": ("loss.backward()", "the gradient of this batch alone"),
    "clip": ("clip_grad_norm_(…)", "shortens the gradient if it is too long"),
    "step": ("optimizer.step()", "moves the weights"),
}
CALLS_COLUMNS = ("call", "what it does", "largest move of a weight", "length of the gradient")
CALLS_READ = (
    "Only `optimizer.step()` changes weights. `loss.backward()` **adds** to the gradients that are "
    "there. This is why each step needs `optimizer.zero_grad()` before it."
)
ASK_ZERO = (
    "`loss.backward()` gave a gradient of length {norm:.3f}. It is called again on the same batch, "
    "without `optimizer.zero_grad()`. How long is the gradient now?"
)
ASK_ZERO_ANSWERS = {
    "{norm:.3f}, as before": "`backward` does not replace the gradients that are there. It adds.",
    "{twice:.3f}, twice as long": "`backward` adds to what is there, so each number counts twice.",
    "0, it was used up": "`backward` does not remove gradients; `zero_grad` does.",
}

# ---- modes

MODES_TITLE = "Training mode and inference mode"
MODES_TEXT = (
    "A model with [[dropout]] has two modes. After `model.train()` it sets some numbers to 0 at "
    "random, so the loss of the same batch changes from one measurement to the next. After "
    "`model.eval()` it uses all numbers. Here are the same weights with a dropout of {dropout:g}, "
    "measured twice in each mode."
)
MODES = {"training": "model.train()", "inference": "model.eval()"}
MODES_COLUMNS = ("mode", "first loss, nats", "second loss, nats")
MODES_READ = (
    "`torch.inference_mode()` is something else: inside it, torch stores nothing for a backward "
    "pass, which saves time and memory. When a model only predicts, use it together with "
    "`model.eval()`."
)

# ---- save, load, resume

RESUME_TITLE = "Save, load, continue"
RESUME_TEXT = (
    "A checkpoint holds the weights, what the optimizer remembers, and the number of the step. The "
    "button trains this model for {steps} steps with the training loop of this project. It saves "
    "the model at step {middle}, loads the files, goes on to the end, and compares."
)
RESUME_BUTTON = "Save, load, continue"
RESUME_COLUMNS = ("run", "loss of the last step, nats", "largest difference of a weight")
RESUME_ROWS = ("never stopped", "saved, loaded, continued", "continued with the weights alone")
RESUME_FILES = "The checkpoint's files: {files}."
RESUME_EQUAL = "The loaded run ends with exactly the same weights as the run that never stopped."
RESUME_APART = (
    "The loaded run ends with weights that differ by up to {apart:.1e} from those of the run that "
    "never stopped."
)
RESUME_MEMORY = {
    True: "SGD remembers nothing, so here the weights and the number of the step are enough.",
    False: (
        "The weights alone are not enough: AdamW also remembers its two means, and without them "
        "the run ends with other weights."
    ),
}
NO_DIFFERENCE = "0"
CODE = "Show the code of the loop"
