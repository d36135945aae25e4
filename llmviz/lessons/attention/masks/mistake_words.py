"""The words of the models trained with a mistake, in chapter "Masks"."""

TITLE = "Models trained with a mistake"
TEXT = (
    "One of these models is right. Each of the others has one mistake. All were trained on the "
    "same list of names. If the loss soon came near zero, training was shorter. The table has the "
    "number of steps."
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
    "ahead": "weight on later letters",
}
LEAK = (
    "Without a mask, the validation loss is {loss:.4f} nats, which looks very good. The model "
    "gives {ahead:.0%} of its weight to later letters. But when a model writes, there is no later "
    "letter to look at. If it predicts {names} held-out names letter by letter, its loss is "
    "**{honest:.2f}** nats. The loss of the right model is {right:.2f}. Guessing at random among "
    "{vocabulary} tokens gives {blind:.2f}."
)
QUIET = {
    "names-gpt-mask-off-by-one": (
        "One letter too many is enough. With the mask off by one, the validation loss is "
        "{loss:.4f} nats, and letter by letter it is **{honest:.2f}**."
    ),
    "names-gpt-two-softmaxes": (
        "With two softmaxes, the leak is harder to see. Before the mask, every weight was divided "
        "by a sum over all letters, also the later ones. Later letters can have an effect here "
        "only through this sum. The validation loss is {loss:.3f} nats, and the one of the right "
        "model is {right_loss:.3f}. But letter by letter it is **{honest:.2f}**."
    ),
    "names-gpt-no-scale": (
        "Without dividing by √d, the loss letter by letter is {honest:.3f} nats. The loss of the "
        "right model is {right:.3f}. In heads of {d} numbers, √d is only {factor:.1f}."
    ),
}
CODE = "Show the code of the loss letter by letter"
LOOK_LABEL = "Where each model looks"
AHEAD = (
    "On {name}, {head} gives {share} of its weight to later letters: these lines run downwards. No "
    "other head of this model gives more."
)
NOT_AHEAD = (
    "On {name}, no head of this model gives weight to a later letter: no line runs downwards. Here "
    "you see {head}. No other head gives more of its weight, on average, to one earlier letter."
)
