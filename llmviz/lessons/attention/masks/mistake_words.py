"""The words of the models trained with a mistake, in chapter "Masks"."""

TITLE = "Trained with the mistake"
TEXT = (
    "Models on the same list of names, alike but for one mistake each. Three of them can see the "
    "letter that they should guess, one of these in a roundabout way; where that soon left nothing "
    "to learn, training was shorter."
)
NAMES = {
    "names-gpt": "as it should be",
    "names-gpt-no-mask": "no mask",
    "names-gpt-mask-off-by-one": "mask off by one",
    "names-gpt-two-softmaxes": "mask between two softmaxes",
    "names-gpt-no-scale": "scores not divided by √d",
}
COLUMNS = {
    "model": "model",
    "steps": "training steps",
    "loss": "its own validation loss",
    "honest": "loss letter by letter",
    "ahead": "weight on what lies ahead",
}
LEAK = (
    "Without a mask the validation loss of {loss:.4f} nats looks wonderful. But a model that "
    "writes has no next letter to look at: asked letter by letter on {names} held-out names, its "
    "loss is **{honest:.2f}** nats, the right one's {right:.2f}; guessing among {vocabulary} "
    "letters blindly is {blind:.2f}. It gives {ahead:.0%} of its weight to what lies ahead."
)
QUIET = {
    "names-gpt-mask-off-by-one": (
        "One letter too many is enough for the same: with the mask off by one it ends at "
        "{loss:.4f} nats, and at **{honest:.2f}** when it has to write."
    ),
    "names-gpt-two-softmaxes": (
        "Two softmaxes leak more quietly. Every weight before the mask was divided by a sum over "
        "all letters, later ones too, and training finds this way to the answer: {loss:.3f} nats "
        "where the right model ends at {right_loss:.3f}, but **{honest:.2f}** when it has to write."
    ),
    "names-gpt-no-scale": (
        "Scores that are not divided by √d end at {honest:.3f} nats, {more:+.3f} against the right "
        "model's {right:.3f}: with heads of {d} numbers they are only {factor:.1f} times too large."
    ),
}
CODE = "Show the code of the loss letter by letter"
LOOK_LABEL = "Where each of them looks"
AHEAD = (
    "On {name}, {head} gives {share} of its weight to letters that come later, more than any other "
    "head of this model: lines that run downwards."
)
NOT_AHEAD = (
    "On {name}, no head of this model gives weight to a later letter: no line runs downwards. This "
    "is {head}, which looks back with the most decision."
)
