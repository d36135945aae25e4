"""What the chapter on learning by heart, and on not learning, says."""

TITLE = "When it goes wrong"
TEXT = (
    "A run can fail in few ways, and each has its own curve. These short runs failed on purpose, "
    "beside one that did not; every point is real, and the button trains them again before your "
    "eyes."
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
        "One model, one list of names. Three runs differ in nothing but how far each step goes; "
        "the fourth has neither Adam nor clipping."
    ),
    "heart": (
        "One model, trained on 80 names and again on 7,200. Validation asks both about names that "
        "neither has seen."
    ),
    "shift": (
        "One model, trained twice on the same names. Its target is once the next letter, once the "
        "letter that was just read."
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
        "guessing, and {rate_large:.2f} is all it finds back to. Right is in between: "
        "{right:.2f}. Without Adam and without clipping it can be over at once: {gone}."
    ),
    "heart": (
        "**80 names are soon known by heart.** The training loss falls to {heart_train:.3f}; the "
        "loss on other names, which first fell to {best:.2f} at step {best_step}, climbs to "
        "{heart:.2f}, far above blind guessing ({blind:.2f}). The gap between the two curves is "
        "what [[overfitting]] is. With 7,200 names the same model has no gap: {all_train:.2f} and "
        "{all:.2f}."
    ),
    "shift": (
        "**Too good to be true.** The target is the letter that was just read, so the model learns "
        "to copy, and a validation loss of {no_shift:.4f} nats comes with it. No text was "
        "understood: what it writes is empty, because after the start it says the start again. The "
        "honest run ends at {right:.2f}."
    ),
    "warmup": (
        "**The first steps are the dangerous ones.** Both runs have rate 0.01 and no clipping. "
        "Adam knows no gradients yet when it makes its first step, so each weight moves by the "
        "full rate. Without warm-up the gradient's norm jumps to {cold_norm:.0f}, and the loss "
        "stays for long at {cold_half:.2f}, which is what counting letters gives "
        "({unigram:.2f}); it ends at {cold:.2f}. With 60 steps of rising rate the norm stays below "
        "{warm_norm:.1f}, and the run ends at {warm:.2f}."
    ),
    "dropout": (
        "**400 names, 800 steps.** Without [[dropout]] the training loss falls to "
        "{no_dropout_train:.2f} while the validation loss climbs from {best:.2f} to "
        "{no_dropout:.2f}. With a fifth of the numbers struck out at each step the model cannot "
        "lean on any one of them: its training loss stays at {dropout_train:.2f}, and the "
        "validation loss holds at {dropout:.2f}."
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
    "Its training loss stops near {floor:.3f}, and that is no accident. Someone who knows the 80 "
    "names by heart still cannot know which of them comes next: that costs ln 80 = {ln:.2f} nats a "
    "name, {floor:.3f} a letter. The model has learned everything there is in its list."
)

# ---- questions

ASK = {
    "rate": (
        "Three of the runs have the same optimizer and differ in their rate alone. Which of them "
        "has the highest loss at any step?",
        {
            "the one with rate 0.00001": "It never rises: from {blind:.2f} it creeps down.",
            "the one with rate 1": "Its loss rises to {peak:.1f} nats before it falls again.",
            "the one with rate 0.005": "It falls from the start.",
        },
        1,
    ),
    "heart": (
        "When should one have stopped the run on 80 names, if new names are to be probable?",
        {
            "At the end, where the training loss is lowest": (
                "There the loss on new names is {heart:.2f}: the model denies that there are any."
            ),
            "At step {best_step}": (
                "There the validation loss is lowest, {best:.2f}. From then on it gets better at "
                "its 80 names and worse at all others."
            ),
            "Never, it still improves": "Only the training loss does.",
        },
        1,
    ),
    "shift": (
        "A colleague shows you a validation loss of {no_shift:.4f} on names that the model never "
        "saw. What do you say?",
        {
            "Congratulations": "No model can know a name before it is read: the loss cannot be 0.",
            "The target stands in the input": (
                "Yes. New names cannot be certain; only a leak makes them so: a missing shift, a "
                "missing mask, or the same texts in both sets."
            ),
            "The learning rate is too high": "Then the loss would be high, not low.",
        },
        1,
    ),
    "warmup": (
        "Both runs reach rate 0.01. Why does the one without warm-up not recover in {steps} steps?",
        {
            "Its rate is higher later on": "From step 60 on both follow nearly the same schedule.",
            "Its first steps put the weights where gradients are small": (
                "After a peak of {cold_norm:.0f} its gradient norm lies near {cold_typical:.1f}, "
                "that of the other run near {warm_typical:.1f}. What it says no longer depends on "
                "the letters before, only on how frequent each letter is, and that changes slowly."
            ),
            "It sees other names": "Both see the same batches, in the same order.",
        },
        1,
    ),
    "dropout": (
        "Which of the two runs has the lower *training* loss at the end?",
        {
            "With dropout": "It is {dropout_train:.2f}: numbers are missing while it trains.",
            "Without dropout": (
                "{no_dropout_train:.2f} against {dropout_train:.2f}. Dropout costs training loss, "
                "and buys validation loss."
            ),
        },
        1,
    ),
}
