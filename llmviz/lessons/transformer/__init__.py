"""Inside the transformer: the whole machine opened, and what research tools do with it."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="transformer",
    title="Inside the transformer",
    icon=":material/account_tree:",
    card="What each layer knows, who wrote the next token, and where every parameter is.",
    headline="Inside the transformer",
    promise=(
        "Attention alone is not a model. Here you open the rest on your own sentence: what the "
        "model would say after each layer, what each part added to a prediction, and what all of "
        "it costs, down to the single number."
    ),
    chapters=[
        Chapter("stream", "Reading the stream"),
        Chapter("patching", "Patching"),
        Chapter("residuals", "Residuals"),
        Chapter("count", "Counting"),
        Chapter("published", "Your own model, or GPT-2"),
    ],
    needs_engine=True,
)
