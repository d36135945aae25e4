"""The words of the models trained with a mistake, in chapter "Masks"."""

TITLE = "Trained with the mistake"
TEXT = (
    "Models trained on the same list of names, equal except for one mistake each. Three of them "
    "can see the letter that they should predict, one of these only through a sum. Two of these "
    "needed so little to learn that they were trained for fewer steps."
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
    "Without a mask, the validation loss is {loss:.4f} nats, which looks very good. But a model "
    "that writes has no next letter to look at. Asked letter by letter on {names} held-out names, "
    "its loss is **{honest:.2f}** nats, and the right model's is {right:.2f}; guessing among "
    "{vocabulary} tokens at random is {blind:.2f}. It gives {ahead:.0%} of its weight to later "
    "letters."
)
QUIET = {
    "names-gpt-mask-off-by-one": (
        "One letter too many does the same: with the mask off by one, the validation loss is "
        "{loss:.4f} nats, and letter by letter it is **{honest:.2f}**."
    ),
    "names-gpt-two-softmaxes": (
        "Two softmaxes leak less visibly. Every weight before the mask was divided by a sum over "
        "all letters, later ones too: the only way for later letters to have an effect here. The "
        "validation loss is {loss:.3f} nats where the right model has {right_loss:.3f}, but "
        "letter by letter it is **{honest:.2f}**."
    ),
    "names-gpt-no-scale": (
        "Without dividing by √d, the loss letter by letter is {honest:.3f} nats, {more:+.3f} "
        "against the right model's {right:.3f}. In heads of {d} numbers, √d is only {factor:.1f}."
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
    "is {head}, which gives the most weight to single earlier letters."
)
