"""What the chapter on one step of training says."""

TITLE = "One step of training"
TEXT = (
    "Training repeats one step: take a batch, predict, measure the loss, compute gradients, change "
    "the weights. Here is one such step on your text, with all of its numbers. The model is a GPT "
    "with one layer and {width} numbers a token. It is that small so that its matrices fit on a "
    "screen; the step of a large model is the same."
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
    "of step {step} is {rows} cut out of it at random. Under each row stand its targets: the same "
    "row, one token later. So the batch has B × T = {rows_number} × {width} = {positions} "
    "positions, and each has a target."
)
INPUT, TARGET = "row {row}: input", "row {row}: target"
UNTRAINED = (
    "Before its first step the model writes {sample}: nonsense, for its weights are random. Its "
    "loss is {loss:.3f} nats, near ln V = ln {vocabulary:,} = {blind:.3f}: it gives all tokens "
    "nearly the same probability."
)
NOTHING_WRITTEN = "(nothing)"

# ---- forward, loss, gradients

FORWARD_TITLE = "Forward, loss, gradients"
FORWARD_TEXT = (
    "Press play, or go from step to step. A click on a cell opens its arithmetic and keeps it in "
    "the link."
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
HIDDEN, LOGITS = ("x, row {row}", "what the head is given"), ("logits, row {row}", "x × W headᵀ")
POSITION = "after"
FORWARD_STEPS = {
    "hidden": "The model has read each row and made {channels} numbers for every position, x. The "
    "head, its last layer, gets these.",
    "logits": "The head scores every token: x times the head's matrix. Each row of the batch gives "
    "a matrix of T × V = {width} × {vocabulary} logits.",
    "flat": "The loss does not care which row a position is in. So the rows are put one below the "
    "other: ({rows}, {width}, {vocabulary}) becomes ({positions}, {vocabulary}), and the targets "
    "become one list of {positions}.",
    "p": "Softmax turns each row of logits into probabilities.",
    "nats": "Of each row one number counts: the probability of the target. Its loss is −ln p.",
    "loss": "The loss of the batch is the mean over its {positions} positions.",
    "upstream": "Backward: the gradient of the logits is p − y, divided by {positions}, since the "
    "loss is a mean. y is 1 at the target and 0 elsewhere.",
    "gradient": "The gradient of the head's matrix: the gradients of the logits, times what the "
    "head was given. Every other matrix of the model gets its gradient in the same way, layer by "
    "layer, backwards.",
}
AGREES = (
    "The loss is **{loss:.4f} nats**. `loss.backward()` gives the same gradient of the head; the "
    "largest difference is {apart}."
)
ZERO = "0"

# ---- the update

UPDATE_TITLE = "Length, clipping, rate, update"
UPDATE_TEXT = (
    "The gradient has one number for each of the {parameters:,} weights. Before the update its "
    "length is limited, and the schedule sets the [[learning rate]]. The picture follows the "
    "weights of one token in the head."
)
TOKEN = "Row of the head"
STEEPEST = "the one with the steepest weight: {token}"
NORMS, SQUARES, SUM, NORM = "length", "length²", "Σ", "length of all"
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
    "clipped": "It is more than {clip:g}, so every gradient is multiplied by {clip:g} ÷ {norm:.4f} "
    "= {factor:.4f}. All keep their directions.",
    "unclipped": "It is not more than {clip:g}, so nothing is shortened: the factor is 1.",
    "unlimited": "There is no limit here, so nothing is shortened: the factor is 1.",
    "sgd": "The rate of step {step} is {rate:.4g}. A step of SGD is −rate × gradient.",
    "memory": "AdamW remembers two means: of the gradients, and of their squares. In each step "
    "each keeps a share of the old value and adds a share of the new one.",
    "adamw": "Both began at 0; the correction makes up for that. The step is −rate × m̂ ÷ (ε + √v̂), "
    "with the rate of step {step}, {rate:.4g}.",
    "sgd after": "New weight = old weight + step: θ ← θ − η · ∇.",
    "adamw after": "New weight = old weight + pull to zero + step.",
}
SCHEDULE = (
    "The rate rises from 0 to {top:g} during the first {warmup} steps and then falls along a "
    "cosine to 0 at step {steps}: in step {step} it is {rate:.4g}."
)
WEIGHT = (
    "One weight of the row of {token}, number {column}: {before:.6f} before, gradient "
    "{gradient:.6f}, {after:.6f} after."
)
LOSS_AFTER = {
    "lower": "The same batch again: its loss was {before:.4f}, now it is **{after:.4f}**, lower.",
    "higher": (
        "The same batch once more: its loss was {before:.4f}, now it is **{after:.4f}**, higher. "
        "Only a small enough step down the gradient is sure to lower it."
    ),
    "equal": "The same batch once more: its loss is still {after:.4f}.",
    "no rate": "The rate of the last step is 0, so no weight changed: the loss stays {after:.4f}.",
}
ASK_CLIP = (
    "The gradient of all weights has the length {norm:.3f}. The limit is {clip:g}. By what is "
    "every gradient multiplied?"
)
ASK_CLIP_DOWN = "{clip:g} ÷ {norm:.3f} = {down:.3f}"
ASK_CLIP_NOT = "1: it stays as it is"
ASK_CLIP_UP = "{norm:.3f} ÷ {clip:g} = {up:.3f}"
ASK_CLIP_REASONS = {
    "down, right": "It is longer than the limit. Multiplied by this it has exactly that length.",
    "down, wrong": "It is shorter than the limit. Clipping shortens; it never makes longer.",
    "not, right": "It is not longer than the limit, so it stays as it is.",
    "not, wrong": "It is longer than the limit, so it is shortened.",
    "up, long": "That would make it longer still.",
    "up, short": "A gradient that is short enough stays as it is.",
}

# ---- the calls

CALLS_TITLE = "Which call does what"
CALLS_TEXT = (
    "The whole step is this function. The table follows its calls on the batch above: how far the "
    "weights moved in each, and how long the gradient was afterwards."
)
CALLS = {
    "forward": ("model(inputs, targets)", "computes the loss"),
    "backward": ("loss.backward()", "adds a gradient for every weight"),
    "backward again": ("… once more, without zero_grad()", "adds it again: now it counts twice"),
    "zero_grad": ("optimizer.zero_grad()", "forgets the gradients"),
    "backward anew": ("loss.backward()", "the gradient of this batch alone"),
    "step": ("optimizer.step()", "moves the weights"),
}
CALLS_COLUMNS = ("call", "what it does", "largest move of a weight", "length of the gradient")
CALLS_READ = (
    "Only `optimizer.step()` changes weights. `loss.backward()` **adds** to the gradients that are "
    "there; that is why each step begins with `optimizer.zero_grad()`."
)
ASK_ZERO = (
    "`loss.backward()` gave a gradient of length {norm:.3f}. It is called again on the same batch, "
    "without `optimizer.zero_grad()`. How long is the gradient now?"
)
ASK_ZERO_ANSWERS = {
    "{norm:.3f}, as before": "That would be so if `backward` replaced what is there. It adds.",
    "{twice:.3f}, twice as long": "`backward` adds to what is there, so each number counts twice.",
    "0, it was used up": "Nothing but `zero_grad` empties the gradients.",
}

# ---- modes

MODES_TITLE = "Training mode and inference mode"
MODES_TEXT = (
    "A model with [[dropout]] has two modes. After `model.train()` it sets numbers to 0 at random, "
    "so the same batch gives another loss each time. After `model.eval()` it uses all numbers. "
    "Here are the same weights with a dropout of {dropout:g}, each measured twice."
)
MODES = {"training": "model.train()", "inference": "model.eval()"}
MODES_COLUMNS = ("mode", "first loss, nats", "second loss, nats")
MODES_READ = (
    "Another thing is `torch.inference_mode()`: inside it, torch keeps nothing for a backward "
    "pass, which saves time and memory. Use both when a model only predicts."
)

# ---- save, load, resume

RESUME_TITLE = "Save, load, go on"
RESUME_TEXT = (
    "A checkpoint holds the weights, what the optimizer remembers, and the number of the step. The "
    "button trains this model for {steps} steps with the training loop of this project, saves it "
    "at step {middle}, loads the files, goes on, and compares."
)
RESUME_BUTTON = "Save, load and go on"
RESUME_COLUMNS = ("run", "loss of the last step, nats", "largest difference of a weight")
RESUME_ROWS = ("never stopped", "saved, loaded, gone on", "gone on with the weights alone")
RESUME_FILES = "The checkpoint's files: {files}."
RESUME_EQUAL = "The run that was loaded ends exactly as the one that never stopped."
RESUME_APART = (
    "The run that was loaded ends with weights that differ by up to {apart:.1e} from those of the "
    "one that never stopped."
)
RESUME_MEMORY = {
    True: "SGD remembers nothing, so here the weights and the number of the step are enough.",
    False: (
        "The weights alone are not enough: AdamW also remembers its two means, and without them "
        "the run goes another way."
    ),
}
NO_DIFFERENCE = "0"
CODE = "Show the code of the loop"
