"""Inside the transformer: the whole machine opened, and what research tools do with it."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="transformer",
    title="Inside the transformer",
    icon=":material/account_tree:",
    card="One layer, number by number; what each part adds; where the parameters are.",
    promise=(
        "Attention alone is not a model. Here you see the other parts at work on your own "
        "sentence, number by number. You open a whole layer, read a prediction after each layer, "
        "and see what each part added to it. You also count parameters, memory and time."
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
        Chapter("masked", "Hidden words", 12),
        Chapter("published", "Your own model, or GPT-2", 10),
    ],
    needs_engine=True,
    needs=(
        "Needed before: attention, with its queries, keys, values and weights (the lesson "
        "“Attention”). The chapters “Residuals” and “Counting” also use gradients, which the "
        "lesson “Training” explains. You can read these two chapters after that lesson."
    ),
    after=["attention"],
    linked_first="stream",
)
