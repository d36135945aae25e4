"""The lesson "From counts to GPT": each kind of language model, and what it could not do."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="history",
    title="From counts to GPT",
    icon=":material/timeline:",
    card="From a table of letter pairs to a GPT: each kind of model, and where each one fails.",
    promise=(
        "A language model gives each possible next [[token]] a probability. There are many ways to "
        "get one: a table of counts, a small network, one vector carried from letter to letter, "
        "attention. Here all of them learn the same names. You type a name and see it go through "
        "each of them, and what each can do is measured."
    ),
    needs="Needed before: what a token and its id are (the lesson “Text to tokens”).",
    after=("tokenization",),
    chapters=[
        Chapter("where", "Where language models stand", minutes=20),
        Chapter("series", "A series first", minutes=20),
        Chapter("counting", "Counting", minutes=25),
        Chapter("mlp", "MLP", minutes=30),
        Chapter("wavenet", "WaveNet", minutes=15),
        Chapter("recurrent", "RNN, GRU, LSTM", minutes=35),
        Chapter("memory", "One test for all", minutes=20),
        Chapter("all", "All of them", minutes=15),
    ],
)
