"""The words of the second half of chapter "Beam search": beside every text there is."""

TITLE = "Is this the most probable text of all?"
TEXT = (
    "With a large vocabulary there are too many texts to try them all. A model that spells names "
    "has few tokens, so here every continuation is scored. Then each text that a beam search gives "
    "is looked up in the full list. Places in this list are counted from 1."
)
NO_MODEL = (
    "This part needs a model with few tokens. None is bundled with this copy. This command makes "
    "one (some minutes):"
)
NO_MODEL_COMMAND = "python -m llmviz checkpoints make names-gpt"
BEGINNING = "Beginning of a name"
TOKENS = "Tokens after it"
MODEL = "Model with few tokens"
ALL = (
    "With {v} tokens in the vocabulary, **{n}** can follow {beginning}. A text that ends early is "
    "counted once. All their probabilities add up to {mass}. The most probable one is {best}, "
    "with {p}."
)
NOTHING = "nothing at all"
END = "■"
END_NOTE = "The {end} stands for the end of the name."
GREEDY_MISSES = (
    "**Greedy choice gives {greedy}, number {place} in the list.** Each of its tokens is the most "
    "probable next one, but the whole text is not the most probable text."
)
GREEDY_FINDS = (
    "**Greedy choice finds this text, too**, so it misses nothing with this beginning. Try another "
    "beginning."
)
FOUND_FROM = (
    "Every beam width from **{width}** to {most} finds the most probable text. A search of width "
    "{width} scores {scored} continuations. The full list has {all} texts."
)
FOUND_SOME = "Not every beam width up to {most} finds the most probable text. These do: {widths}."
NOT_FOUND = "No beam width up to {most} finds the most probable text here."
FIGURE = {
    "title": "The most probable of all, and what each beam width finds",
    "x": "probability of the whole continuation",
    "y": "place and continuation",
}
WIDTH = "width {widths}"
GREEDY = "width {widths}, greedy"
ASK = (
    "If up to {n} tokens may follow, how many texts are there? A text that ends early counts once."
)
ASK_REASON = (
    "A text can go on after {going} of the {v} tokens. So each further token multiplies the number "
    "of texts that have not ended by {going}. After {n} tokens there are {going}^{n} = {full} such "
    "texts, and {early} texts have ended before. A beam of width 3 scores at most {beam} "
    "continuations, but may miss the best text."
)
ASK_REASON_NO_END = (
    "Each further token multiplies the number of texts by {v}: {v}^{n} = {full}. A beam of width 3 "
    "scores at most {beam} continuations, but may miss the best text."
)
ASK_POWER = (
    "{v}^{n} counts texts that go on after their end. A text that has ended has no further tokens."
)
ASK_LINEAR = "Each further token multiplies the number of texts. It does not just add to it."
