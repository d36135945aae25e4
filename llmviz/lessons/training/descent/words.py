"""The texts of the chapter on descent."""

TITLE = "Down the slope"
TEXT = (
    "Think of the loss as the height of a landscape over the weights. The [[gradient]] says which "
    "way is up. Plain gradient descent takes a step the other way: gradient × [[learning rate]]. "
    "Other optimizers compute another step from the gradients, and multiply it by the learning "
    "rate. Move the slider: the steps at every rate are computed already."
)
LOOKS = {
    "one": "One weight",
    "surface": "Two weights",
    "letters": "A neuron",
    "model": "A language model",
}

# ---- words of the components

VIEW = {
    "rate": "learning rate",
    "own_rates": "own",
    "best": "Each its best rate",
    "strip": "what each learning rate leads to; click to choose one for this optimizer alone",
    "settled": "arrives",
    "under_way": "how far it gets",
    "gone": "gets worse or diverges",
    "chart": "loss above the lowest",
    "steps": "steps",
    "step": "step",
    "weight": "weight now",
    "next": "weight after",
    "which": "{name}: step {step} of {all}, in numbers",
    "has_left": "{name} is far away after step {step}: the rate is too large.",
    "loss": "loss",
    "click": "Click to choose another start.",
    "map": "map of the loss over two weights; arrow keys move the start",
    "outside": "outside the picture",
    "x_axis": "",
    "y_axis": "",
}

# ---- one weight

ONE_TITLE = "One weight"
ONE_TEXT = (
    "This model is a single number: its guess of how many letters a name has. Its loss is the mean "
    "of the squared errors over {names:,} names. That is a parabola, and its lowest point is the "
    "mean length, {best:.3f}. The ball starts at {start:g}. The dashed line shows the slope."
)
ONE_VIEW = {
    "map": "the loss over the one weight, and the ball's way down",
    "x_axis": "the weight: the guessed length, letters",
    "y_axis": "loss: mean squared error",
}
ONE_LINES = {
    "tiny": "Too small for {steps} steps. Each step covers {share} of the distance that is left, "
    "and {rest} of the whole distance is left at the end.",
    "slow": "It comes closer without overshooting. Each step covers {share} of the distance that "
    "is left, and after {steps} steps {rest} of the whole distance is left.",
    "exact": "Just right for this parabola: the first step covers {share_exact} of the distance.",
    "over": "It overshoots. Each step lands on the other side, at {rest_one} of the distance, and "
    "after {steps} steps {rest} of the whole distance is left.",
    "edge": "Too large for {steps} steps. Each step lands on the other side, at {rest_one} of the "
    "distance, and {rest} of the whole distance is left at the end.",
    "limit": "Too large. Each step lands on the other side, exactly as far away as before.",
    "gone": "Much too large. Each step lands on the other side, {factor:.2f} times as far away: it "
    "diverges.",
}
ALL_OF_IT = "all"
LITTLE = "less than 0.01 %"
ONE_LABEL = "gradient descent"
ASK_ONE = (
    "At learning rate {rate:g} each step leaves 1 − 2 × {rate:g} = {factor:g} of the distance. "
    "Which is the smallest of these rates at which the ball no longer gets closer?"
)
ASK_ONE_YES = (
    "At 1 the factor is 1 − 2 = −1: the ball jumps to the other side, exactly as far away. Beyond "
    "that it moves away. In general the limit is 2 divided by the curvature, which is 2 here."
)
ASK_ONE_NO = "At {rate:g} the factor is {factor:g}: {what}"
ASK_ONE_ARRIVES = "one step and it is there."
ASK_ONE_NEARER = "it still comes closer."
ASK_ONE_GONE = (
    "it moves away with each step. But a smaller rate in this list already stops it from getting "
    "closer."
)

# ---- two weights

SURFACE_TITLE = "Two weights, seven ways down"
SURFACE = "Surface"
SURFACES = {
    "bowl": "Bowl",
    "ravine": "Ravine",
    "saddle": "Saddle",
    "valleys": "Two valleys",
}
SURFACE_TEXT = {
    "bowl": "A **bowl**, {formula}: twice as steep along y as along x. How fast does each "
    "optimizer get to the bottom?",
    "ravine": "A **ravine**, {formula}: sixty times as steep across it as along it. For plain SGD, "
    "a rate that is small enough across is slow along. Momentum adds the gradients of many steps: "
    "those of one direction add up, those of opposite directions cancel.",
    "saddle": "A **saddle**, {formula}: flat in the middle, uphill along x, downhill along y. At "
    "the usual start the slope along y is tiny. RMSprop, Adam and Adagrad divide each weight's "
    "step by the size of its own gradients. Whether they leave the middle sooner than SGD depends "
    "on the rates.",
    "valleys": "**Two valleys**, {formula}: the left one is deeper. From the usual start, plain "
    "SGD with small steps ends in the right one. A larger step, or momentum, can get to the left.",
}
OPTIMIZERS = "Optimizers"
NAMES = {
    "sgd": "SGD",
    "momentum": "momentum",
    "nesterov": "Nesterov",
    "adagrad": "Adagrad",
    "rmsprop": "RMSprop",
    "adam": "Adam",
    "adamw": "AdamW",
}
SETTINGS = "Their other settings"
MOMENTUM, BETA2, DECAY = "Momentum, and β₁ of Adam", "β₂", "Weight decay λ"
HELD = "Start again from the top"
NONE_CHOSEN = "Choose at least one optimizer."
REPORT = "After {steps} steps from ({x}, {y}) at these rates: {parts}."
REPORT_SETTLED = "{names} at the bottom"
REPORT_LEFT = "{names} diverged"
REPORT_REST = "{names} almost at rest elsewhere, at {share} of the start's height above the bottom"
REPORT_WAY = "{names} still moving, at {share} of the start's height above the bottom"
DECAY_NOTE = {
    "none": (
        "With λ = 0 Adam and AdamW are the same. With a larger λ they differ. In Adam the pull to "
        "zero is a part of the gradient, so it is divided by the gradient's size. In AdamW it acts "
        "on the weight itself."
    ),
    "some": (
        "λ = {decay:g} pulls every weight towards zero. {where} In AdamW the pull is lr · λ · w, "
        "whatever the gradient is. In the others it is a part of the gradient."
    ),
}
DECAY_WHERE = {
    True: "The bottom of this surface is at zero, so here the pull and the loss agree.",
    False: (
        "The bottom of this surface is not at zero, so the pull keeps the weights away from the "
        "bottom."
    ),
}
ASK_SURFACE = (
    "Plain SGD starts at ({x}, {y}) on this surface, without weight decay. After {steps} steps, at "
    "most 1 % of the start's height above the bottom should be left. Which is the largest of these "
    "rates at which this is so?"
)
ASK_SURFACE_REASON = {
    "right": "At {rate} {left} of the height is left. At each larger rate in this list it is more.",
    "small": "At {rate} {left} of the height is left. But {right}, which is larger, works as well.",
    "large": "At {rate} {what}.",
}
ASK_LEAVES, ASK_STUCK = "it diverges", "{left} of the height is left"

# ---- rows of numbers

VALUE_NAMES = {
    "gradient": "gradient g",
    "velocity": "velocity v",
    "ahead": "look ahead",
    "sum_of_squares": "sum of g²",
    "mean_of_squares": "mean of g²",
    "mean": "mean of g",
    "mean_corrected": "mean, corrected",
    "squares_corrected": "mean g², corrected",
    "scale": "√ + ε",
    "decay": "pull to zero",
    "step": "step",
}
ARITHMETIC = {
    "sgd": {"step": "−{lr} × {gradient}"},
    "momentum": {
        "velocity": "{momentum} × {velocity'} + {gradient}",
        "step": "−{lr} × {velocity}",
    },
    "nesterov": {
        "velocity": "{momentum} × {velocity'} + {gradient}",
        "ahead": "{gradient} + {momentum} × {velocity}",
        "step": "−{lr} × {ahead}",
    },
    "adagrad": {
        "sum_of_squares": "{sum_of_squares'} + {gradient}²",
        "scale": "√{sum_of_squares} + ε",
        "step": "−{lr} × {gradient} ÷ {scale}",
    },
    "rmsprop": {
        "mean_of_squares": "{beta2} × {mean_of_squares'} + {rest2} × {gradient}²",
        "scale": "√{mean_of_squares} + ε",
        "step": "−{lr} × {gradient} ÷ {scale}",
    },
    "adam": {
        "mean": "{beta1} × {mean'} + {rest1} × {gradient}",
        "mean_of_squares": "{beta2} × {mean_of_squares'} + {rest2} × {gradient}²",
        "mean_corrected": "{mean} ÷ (1 − {beta1}^{t})",
        "squares_corrected": "{mean_of_squares} ÷ (1 − {beta2}^{t})",
        "scale": "√{squares_corrected} + ε",
        "step": "−{lr} × {mean_corrected} ÷ {scale}",
    },
}
ARITHMETIC["adamw"] = {"decay": "−{lr} × {lambda} × {w}", **ARITHMETIC["adam"]}

# ---- a neuron

LETTERS_TITLE = "One neuron, letter by letter"
LETTERS_TEXT = (
    "Is a letter a vowel? This neuron gets two numbers for each letter. Both are counted in "
    "{names:,} names, among the letters that come after it: the share of **n** and the share of "
    "**a**. The neuron gets their square roots, scaled to mean 0 and standard deviation 1. It "
    "computes z = w₁x₁ + w₂x₂ + b and turns z into a probability, p = 1 ÷ (1 + e⁻ᶻ). Its loss is "
    "the binary [[cross-entropy]]: −ln p for a vowel, −ln (1 − p) for a consonant."
)
LETTERS_BATCHES = (
    "**Batch**: all {points} letters before each step. **Mini-batch**: up to {mini} letters before "
    "each step. **Stochastic**: one letter before each step, so it takes {points} steps where the "
    "batch takes one. All three see every letter {epochs} times. The seed decides the order."
)
KINDS = {"batch": "batch", "mini": "mini-batch", "stochastic": "stochastic"}
LETTERS_VIEW = {
    "kinds": ["consonant", "vowel"],
    "batch": "in the next step's batch",
    "plane": "26 letters and the line between vowels and consonants; arrow keys choose a letter",
    "counted": "{right} of {all} letters are on the right side of the line; crossed out: wrong.",
    "x_axis": "share of n among the letters that follow, square-root scale",
    "y_axis": "share of a, square-root scale",
    "nats": "nats",
    "slope": "its slope at z",
    "steps": "letters seen",
    "step": "letters seen:",
    "chart": "mean loss of all letters, nats",
}
LETTERS_NAMES = ("w₁", "w₂", "b")
SEED = "Seed of the order"
LETTERS_END = (
    "After {epochs} epochs at rate {rate}: {parts}. A straight line can separate all 26 letters. "
    "So there is no lowest loss: once the line separates them, larger weights always give a lower "
    "loss and a more certain neuron."
)
LETTERS_PART = "{kind} {loss:.3f} nats, {right} of {points} right"
LETTERS_WRONG = " (not {names})"
ASK_LETTERS = (
    "Before the first step all weights are 0. What is the loss of each letter then, vowel or "
    "consonant?"
)
ASK_LETTERS_ANSWERS = {
    "0": "Zero weights give z = 0 and p = ½, not certainty: the loss is not 0.",
    "ln 2 = 0.693": "z = 0 gives p = ½ for every letter, and −ln ½ = ln 2 = 0.693 nats.",
    "ln 26 = 3.258": "That is the loss of guessing one letter of 26; here only yes or no is asked.",
}

# ---- a language model

MODEL_TITLE = "The same optimizers on a language model"
MODEL_TEXT = (
    "A very small one: a [[bigram]] of letters with {weights} weights. Every step uses all "
    "{pairs:,} letter pairs of {names:,} names. Nothing is random, so only the optimizer and its "
    "rate make a difference. The lowest loss of a bigram on these pairs is known: **{floor:.4f} "
    "nats**, that of the table of counted shares. The chart shows how far above this loss each "
    "optimizer is. The numbers below follow one weight: the score of **u** after **q**. Of {q} "
    "pairs that begin with q, {qu} go on with u."
)
MODEL_VIEW = {"chart": "loss above the counted table, nats", "steps": "steps"}
MODEL_WEIGHT = "q → u"
MODEL_REPORT = "After {steps} steps at these rates: {parts}."
MODEL_PART = "{name} {loss:.4f}"
ASK_MODEL = (
    "The loss is a mean over all {pairs:,} pairs, and {q} of them begin with q. Compare it with a "
    "mean over these {q} pairs alone: how large is the gradient of q's row?"
)
ASK_MODEL_ANSWERS = {
    "The same": (
        "The other pairs have no effect on this row. But the sum is divided by the number of all "
        "pairs, {pairs:,} instead of {q}."
    ),
    "{q} / {pairs:,} of that": (
        "Only the {q} pairs have an effect on this row, and the sum is divided by {pairs:,} "
        "instead of {q}. "
        "So plain SGD learns the rows of rare letters slowly. Adagrad, RMSprop and Adam divide "
        "each weight's step by the size of its own gradients."
    ),
    "Zero": "It is small, not zero: {q} pairs do begin with q.",
}
DEEP_TITLE = "And on a network with a hidden layer"
DEEP_TEXT = (
    "Here nothing is computed in advance. The button trains a small network on the bundled names "
    "with the training loop of this project: {steps} steps for each of {count} optimizers, one "
    "after the other. All start from the same weights and get the same batches."
)
DEEP_BUTTON = "Race {count} optimizers now"
DEEP_WAITS = "A process is getting ready …"
DEEP_PROGRESS = "{name}: step {step} of {steps}, loss {loss:.3f}"
DEEP_AXES = ("step", "training loss, nats per letter")
DEEP_RESULT = (
    "{best} has the lowest loss after {steps} steps: {loss:.3f} nats on names that it never saw. "
    "{all}"
)
DEEP_PART = "{name} (rate {rate:g}): {loss:.3f} nats in {seconds:.1f} s"
