"""What the chapter on positions says about texts that are longer than those of training."""

TITLE = "A text longer than any in training"
TEXT = (
    "A model is trained on texts of a limited length. What happens after the last place of "
    "training depends on the kind of positions."
)
ASK = "Which kind has no numbers at all for the first place after those of training?"
ASK_ANSWERS = ("Sinusoidal", "Learned", "Rotary")
ASK_REASONS = (
    "Its formula gives a row for every position, even a very large one.",
    "A learned table has as many rows as there were places in training. There is no next row.",
    "An angle can be computed for every position, even a very large one.",
)
KINDS = (
    "**Learned:** no row is left. The model must stop, or drop the beginning and read its last "
    "words only, as this app does when a model writes. **Sinusoidal:** the next row can be "
    "computed, but no layer has learned from it. **Rotary:** every angle can be computed, and the "
    "scores between near words do not change. Only distances larger than in training are new. "
    "**None:** no table ends, but each word attends to more words than in training."
)
MEASURED = (
    "Can a model use such places? This was measured on new stories of {times} tokens. Three models "
    "were trained in the same way on texts of {context} tokens. They differ only in their "
    "positions. For the new places, the learned table got rows of random numbers. The model "
    "without positions is a different model, with one layer. Compare it only with itself. The "
    "table shows the mean loss in [[nats]] a token. In the last column, each model reads only the "
    "last {context} tokens, as in training."
)
MODEL = "positions"
NAMES = {
    "sinusoidal": "sinusoidal",
    "learned": "learned",
    "rotary": "rotary",
    "none": "none (another model)",
}
INSIDE = "positions {start} to {end}"
NEW = "positions {start} to {end}, new"
LAST = "the new positions, last {context} tokens read"
CHANGE = (
    "**{name}:** {inside:.2f} at the positions of training, {first} ({beyond:.2f}) right after "
    "them, {last} ({far:.2f}) at the end."
)
CHANGES = ("higher", "lower", "about the same")
LEAST = (
    "Three of the models were trained in the same way. The loss of the one with {name} positions "
    "changes least up to the end: by {rise:.2f} nats. This was measured only for these models and "
    "this length."
)
