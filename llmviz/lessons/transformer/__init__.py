"""Inside the transformer: the whole machine opened, and what research tools do with it."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="transformer",
    title="Inside the transformer",
    icon=":material/account_tree:",
    card="One layer number by number, what each part knows and writes, where every parameter is.",
    promise=(
        "Attention alone is not a model. Here you open the rest on your own sentence: a whole "
        "layer, what the model would say after each, what each part added to a prediction, and "
        "what all of it costs, down to the single number."
    ),
    chapters=[
        Chapter("block", "One block, opened", 12),
        Chapter("norms", "Norms and activations", 10),
        Chapter("units", "Units", 8),
        Chapter("residuals", "Residuals", 10),
        Chapter("stream", "Reading the stream", 15),
        Chapter("patching", "Patching", 12),
        Chapter("count", "Counting", 10),
        Chapter("loop", "Token after token", 15),
        Chapter("since", "What changed since 2017", 20),
        Chapter("halves", "Two halves", 15),
        Chapter("masked", "Words hidden", 12),
        Chapter("published", "Your own model, or GPT-2", 10),
    ],
    needs_engine=True,
    needs=(
        "This lesson takes attention for granted: queries, keys, values and their weights. Two "
        "chapters, “Residuals” and “Counting”, also speak of gradients, which the lesson on "
        "training explains; you can come back to them after it."
    ),
    after=["attention"],
    linked_first="stream",
)
