"""Inside the transformer: the whole machine opened, and what research tools do with it."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="transformer",
    title="Inside the transformer",
    icon=":material/account_tree:",
    card="One layer number by number, what each part knows and writes, where every parameter is.",
    headline="Inside the transformer",
    promise=(
        "Attention alone is not a model. Here you open the rest on your own sentence: a whole "
        "layer, what the model would say after each, what each part added to a prediction, and "
        "what all of it costs, down to the single number."
    ),
    chapters=[
        Chapter("block", "One block, opened", 12),
        Chapter("norms", "Norms and activations", 10),
        Chapter("units", "Units", 8),
        Chapter("residuals", "Residuals"),
        Chapter("stream", "Reading the stream"),
        Chapter("patching", "Patching"),
        Chapter("count", "Counting"),
        Chapter("loop", "Token after token", minutes=15),
        Chapter("since", "What changed since 2017", minutes=20),
        Chapter("halves", "Two halves", minutes=15),
        Chapter("masked", "Words hidden", minutes=12),
    ],
    needs_engine=True,
    needs="This lesson takes attention for granted: queries, keys, values and their weights.",
    after=["attention"],
    linked_first="stream",
)
