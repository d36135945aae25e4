"""The texts of the chapter on overfitting and on runs that fail."""

from llmviz.lessons.training import LESSON

TITLE = LESSON.title_of("overfitting")
TEXT = (
    "Runs fail in different ways, and you can see it in their curves. Each comparison has a short "
    "run that was made to fail, beside another run. All points were measured. The button trains "
    "the runs again here."
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
COMPARED = {
    "rate": (
        "The same model and the same list of names. Three runs differ only in their learning rate. "
        "The fourth has neither Adam nor clipping."
    ),
    "heart": (
        "The same model, trained on 80 names and again on 7,200. The validation loss is measured "
        "on names that the run did not learn from."
    ),
    "shift": (
        "The same model, trained twice on the same names. One run has the next letter as its "
        "target. The other has no shift by one, as the chapter “What the loss is” explains."
    ),
    "warmup": (
        "Two runs at rate 0.01, without clipping. One begins at the full rate. In the other the "
        "rate rises to it during 60 steps."
    ),
    "dropout": "Two runs of 800 steps on 400 names, with [[dropout]] and without.",
}
RUN_TEXT = {
    "rate": (
        "**One number decides.** At rate 0.00001 the run learns, but slowly. After {steps} steps "
        "its loss is {rate_small:.2f}, still near the {blind:.2f} of blind guessing. At rate 1 the "
        "first steps change the weights so much that the loss rises to {rate_large_peak:.1f} nats, "
        "worse than guessing. It ends at {rate_large:.2f}. The rate in between ends at "
        "{right:.2f}. Without Adam and without clipping a run can fail at once: {gone}."
    ),
    "heart": (
        "**The 80 names are learned by heart.** The training loss falls to {heart_train:.3f}. The "
        "loss on other names first falls to {best:.2f} at step {best_step}. Then it rises to "
        "{heart:.2f}, far above blind guessing ({blind:.2f}). This is [[overfitting]]: the model "
        "gets better on its own list and worse on new names. With 7,200 names the same model has "
        "almost no gap: {all_train:.2f} and {all:.2f}."
    ),
    "shift": (
        "**Too good to be true.** Without the shift the validation loss ends at {no_shift:.4f} "
        "nats, with it at {right:.2f}. The model without the shift writes nothing: after the start "
        "token it gives the start token again, which ends the text."
    ),
    "warmup": (
        "**The first steps decide here.** Both runs have rate 0.01 and no clipping. In its first "
        "step Adam moves a weight by almost the full rate, even if its gradient is small. Without "
        "warm-up the gradient's norm rises to {cold_norm:.0f}. The loss on new names is "
        "{cold_half:.2f} halfway and {cold:.2f} at the end. With 60 steps of warm-up the norm is "
        "at most {warm_norm:.1f}. The loss is {warm_half:.2f} halfway and {warm:.2f} at the end."
    ),
    "dropout": (
        "**400 names, 800 steps.** Without [[dropout]] the training loss falls to "
        "{no_dropout_train:.2f}, while the validation loss rises from {best:.2f} to "
        "{no_dropout:.2f}. Dropout sets a fifth of the numbers to 0, other ones at each step. With "
        "it the training loss ends at {dropout_train:.2f}, and the validation loss at "
        "{dropout:.2f}."
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
MINE = "These are your own runs. They are drawn while they train."
MADE_BY = (
    "Bundled runs. Each was made by its command, for example `{command}` ({seconds:.0f} seconds)."
)
MISSING = "The short runs are not in this copy of the app. This command makes them:"
MISSING_COMMAND = "python -m llmviz.training.experiments"

# ---- learned by heart

WROTE_TITLE = "What it writes"
WROTE_AT = "At step"
WROTE = (
    "The model that learned from 80 names wrote {all} names at step {step}. Of these, **{copied}** "
    "are in its list, letter for letter{some}."
)
WROTE_SOME = ": {names}"
WROTE_NEW = " These are not in it: {names}."
FLOOR = (
    "Its training loss stays near {floor:.3f}. The reason: even someone who knows the 80 names by "
    "heart cannot know which of them comes next. This alone is a loss of ln 80 = {ln:.2f} nats per "
    "name. Per letter it is {floor:.3f}, with the end of the name as a letter."
)

# ---- questions

ASK = {
    "rate": (
        "Three of the runs have the same optimizer and differ only in their learning rate. Which "
        "of them has the highest training loss at any step?",
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
                "There it is {best:.2f}, the lowest. Later the training loss still falls, but the "
                "loss on new names rises."
            ),
            "Step {middle_step}, halfway": "There it is {heart_half:.2f}.",
        },
        1,
    ),
    "shift": (
        "A colleague shows you a validation loss of {no_shift:.4f} on names that the model never "
        "saw. What do you say?",
        {
            "The model is very good": "No model can know a new name before it has read it, so a "
            "loss near 0 cannot be right.",
            "The target is in the input": (
                "A model can be that certain about new names only if it sees the answer. That "
                "happens without the shift, or without the mask."
            ),
            "The learning rate is too high": "Such a rate makes the loss high, not low.",
        },
        1,
    ),
    "warmup": (
        "Halfway the run without warm-up has a loss of {cold_half:.2f} on new names. Which of "
        "these gives nearly the same loss?",
        {
            "Giving all letters the same probability": "That gives {blind:.2f}.",
            "Counting how frequent each letter is": (
                "That gives {unigram:.2f}: halfway the run is about as good as a model that "
                "ignores all letters before."
            ),
            "Counting which letter follows which": "That gives {bigram:.2f}.",
        },
        1,
    ),
    "dropout": (
        "Which of the two runs has the lower *training* loss at the end?",
        {
            "With dropout": "It is {dropout_train:.2f}, measured with numbers set to 0.",
            "Without dropout": (
                "It is {no_dropout_train:.2f}; with dropout it is {dropout_train:.2f}. On new "
                "names it is the other way round: {no_dropout:.2f} and {dropout:.2f}."
            ),
        },
        1,
    ),
}
