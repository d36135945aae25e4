"""The words of the second half of chapter "Beam search": beside every text there is."""

TITLE = "Is it the best of all?"
TEXT = (
    "With a large vocabulary nobody can try every text. A model that spells names, with its few "
    "letters, allows it. Here all continuations are scored one by one, and what the beam finds is "
    "looked up among them."
)
NO_MODEL = (
    "This part needs a model with few tokens. None is bundled with this copy; this makes one, in "
    "some minutes:"
)
NO_MODEL_COMMAND = "python -m llmviz checkpoints make names-gpt"
BEGINNING = "Beginning of a name"
TOKENS = "Tokens behind it"
MODEL = "Model with few tokens"
ALL = (
    "With {v} tokens, **{n}** can stand behind {beginning}, those that end early counted once. "
    "Their probabilities add up to {mass}. The best of all is {best} with {p}."
)
NOTHING = "nothing at all"
END = "■"
END_NOTE = "The {end} stands for the end of the name."
GREEDY_MISSES = (
    "**Greedy takes {greedy}, number {place} of them.** Its first token was the most probable one, "
    "but what can follow it is not."
)
GREEDY_FINDS = (
    "**Greedy finds it too**, so with this beginning there is nothing to miss. Try another one."
)
FOUND_FROM = (
    "Every beam width from **{width}** to {most} finds the best one; a width of {width} scores "
    "{scored} continuations on the way, not {all}."
)
FOUND_SOME = "Of the beam widths up to {most}, {widths} find the best one and the others do not."
NOT_FOUND = "No beam width up to {most} finds the best one here."
FIGURE = {
    "title": "The most probable of all, and what each beam width finds",
    "x": "probability of the whole continuation",
    "y": "place and continuation",
}
WIDTH = "width {widths}"
GREEDY = "width {widths}, greedy"
ASK = "And if {n} tokens may follow: how many texts are there to score?"
ASK_REASON = (
    "Each further token multiplies them by {v}: {v} to the power of {n}. A beam of width 3 scores "
    "{beam} and gives up the guarantee."
)
ASK_LINEAR = "Every further token does not add to the number of texts, it multiplies it."
