"""What the chapter on learning by heart, and on not learning, says."""

TITLE = "When it goes wrong"
TEXT = (
    "A run can fail in few ways, and each has its own curve. These short runs failed on purpose, "
    "beside one that did not. Every point was measured, and the button trains them again here."
)
KINDS = {
    "rate": "Learning rate",
    "heart": "Learned by heart",
    "shift": "No shift",
    "warmup": "Warm-up",
    "dropout": "Dropout",
}
RUNS = {
    "right": "rate 0.005, right",
    "rate-small": "rate 0.00001, too small",
    "rate-large": "rate 1, too large",
    "rate-gone": "SGD at rate 2, unclipped",
    "no-shift": "target = input",
    "heart": "80 names",
    "heart-all": "7,200 names",
    "cold": "no warm-up",
    "warm": "60 steps of warm-up",
    "no-dropout": "dropout 0",
    "dropout": "dropout 0.2",
}
RUNS_OF = {"shift": {"right": "target = next letter"}}
SHOWN = {
    "rate": (
        "One model, one list of names. Three runs differ in their learning rate alone; the "
        "fourth has neither Adam nor clipping."
    ),
    "heart": (
        "One model, trained on 80 names and again on 7,200. Validation asks both about names that "
        "neither has seen."
    ),
    "shift": (
        "One model, trained twice on the same names: once with the next letter as its target, once "
        "without the shift by one that the chapter “What the loss is” explains."
    ),
    "warmup": (
        "Two runs at rate 0.01, without clipping. One begins at the full rate, the other climbs to "
        "it in 60 steps."
    ),
    "dropout": "Two runs of 800 steps on 400 names, with [[dropout]] and without.",
}
RUN_TEXT = {
    "rate": (
        "**One number decides.** At rate 0.00001 nothing is wrong, only slow: after {steps} steps "
        "the loss is {rate_small:.2f}, still near the {blind:.2f} of blind guessing. At rate 1 the "
        "first steps throw the weights so far that the loss rises to {peak:.1f} nats, worse than "
        "guessing; it ends at {rate_large:.2f}. The rate in between ends at {right:.2f}. Without "
        "Adam and without clipping a run can fail at once: {gone}."
    ),
    "heart": (
        "**80 names are soon known by heart.** The training loss falls to {heart_train:.3f}; the "
        "loss on other names, which first fell to {best:.2f} at step {best_step}, climbs to "
        "{heart:.2f}, far above blind guessing ({blind:.2f}). The gap between the two curves is "
        "what [[overfitting]] is. With 7,200 names the same model has no gap: {all_train:.2f} and "
        "{all:.2f}."
    ),
    "shift": (
        "**Too good to be true.** Without the shift the validation loss ends at {no_shift:.4f} "
        "nats, with it at {right:.2f}. What the first model writes is empty: after the start token "
        "it gives the start token again."
    ),
    "warmup": (
        "**The first steps are the dangerous ones.** Both runs have rate 0.01 and no clipping. "
        "In its first step Adam moves every weight that has a gradient by the full rate, however "
        "small the gradient is. Without warm-up the gradient's norm rises to {cold_norm:.0f}; "
        "halfway the loss on new names is {cold_half:.2f}, at the end {cold:.2f}. With 60 steps of "
        "rising rate the norm is at most {warm_norm:.1f}, the loss halfway {warm_half:.2f}, at the "
        "end {warm:.2f}."
    ),
    "dropout": (
        "**400 names, 800 steps.** Without [[dropout]] the training loss falls to "
        "{no_dropout_train:.2f} while the validation loss climbs from {best:.2f} to "
        "{no_dropout:.2f}. With a fifth of the numbers set to 0 at each step, others each time, "
        "the model cannot depend on any single one: its training loss ends at {dropout_train:.2f}, "
        "and the validation loss at {dropout:.2f}."
    ),
}
NOT_MEASURED = "–"
TABLE = {
    "run": "run",
    "steps": "steps",
    "train": "training loss, nats",
    "validation": "validation loss, nats",
    "best": "best validation, nats",
    "at": "at step",
}
ENDED = "{title}: {line}"
LOG = "Logarithmic loss"
AGAIN = "Train {count} here"
FORGET = "Show the bundled runs"
MINE = "These are your own runs, as they come."
MADE = "Bundled runs, each made by its command, for example `{command}` ({seconds:.0f} seconds)."
MISSING = "The short runs are not in this copy of the app. This command makes them:"
MISSING_COMMAND = "python -m llmviz.training.experiments"

# ---- learned by heart

WROTE_TITLE = "What it writes"
WROTE_AT = "At step"
WROTE = (
    "Of the {all} names that the model of 80 names wrote at step {step}, **{copied}** stand in its "
    "80, letter for letter{some}."
)
WROTE_SOME = ": {names}"
WROTE_NEW = " The others are its own: {names}."
FLOOR = (
    "Its training loss stops near {floor:.3f}, for this reason: someone who knows the 80 "
    "names by heart still cannot know which of them comes next: that costs ln 80 = {ln:.2f} nats a "
    "name, {floor:.3f} a letter. The model has learned nearly all that can be known about its list."
)

# ---- questions

ASK = {
    "rate": (
        "Three of the runs have the same optimizer and differ in their rate alone. Which of them "
        "has the highest loss at any step?",
        {
            "the one with rate 0.00001": "Its highest loss is {rate_small_peak:.2f} nats.",
            "the one with rate 1": "Its loss rises to {rate_large_peak:.1f} nats before it falls.",
            "the one with rate 0.005": "Its highest loss is {right_peak:.2f} nats.",
        },
        1,
    ),
    "heart": (
        "At which of these steps had the run on 80 names the lowest loss on new names?",
        {
            "Step {steps}, the last": "There the loss on new names is {heart:.2f}.",
            "Step {best_step}": (
                "There it is {best:.2f}, the lowest. Later the training loss still falls, while "
                "the loss on new names rises."
            ),
            "Step {middle_step}, halfway": "There it is {heart_half:.2f}.",
        },
        1,
    ),
    "shift": (
        "A colleague shows you a validation loss of {no_shift:.4f} on names that the model never "
        "saw. What do you say?",
        {
            "The model is very good": "No model can know a name before it is read, so a loss near "
            "0 cannot be right.",
            "The target stands in the input": (
                "New names cannot be certain unless the model sees the answer: a missing shift, a "
                "missing mask, or the same texts in both sets."
            ),
            "The learning rate is too high": "Such a rate makes the loss high, not low.",
        },
        1,
    ),
    "warmup": (
        "Halfway the run without warm-up has a loss of {cold_half:.2f} on new names. Which of "
        "these gives nearly the same loss?",
        {
            "Giving all letters the same probability": "That costs {blind:.2f}.",
            "Counting how frequent each letter is": (
                "That costs {unigram:.2f}: halfway the run is no better than a model that ignores "
                "all letters before."
            ),
            "Counting which letter follows which": "That costs {bigram:.2f}.",
        },
        1,
    ),
    "dropout": (
        "Which of the two runs has the lower *training* loss at the end?",
        {
            "With dropout": "It is {dropout_train:.2f}: numbers are missing while it trains.",
            "Without dropout": (
                "{no_dropout_train:.2f} against {dropout_train:.2f}. On new names it is the other "
                "way round: {no_dropout:.2f} against {dropout:.2f}."
            ),
        },
        1,
    ),
}
