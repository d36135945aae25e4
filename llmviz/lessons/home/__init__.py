"""The whole machine on the learner's own sentence."""

from llmviz.ui.lesson import Lesson

LESSON = Lesson(
    key="home",
    title="The whole machine",
    icon=":material/home:",
    card="",
    headline="How a language model reads and writes",
    promise=(
        "A language model reads some [[token|tokens]]. Then it says how probable each token of its "
        "[[vocabulary]] is as the next one. Here you see a model at work on your own sentence. "
        "Every line, cell and bar is a number that it computed a moment ago."
    ),
    needs=(
        "You need no knowledge about language models to begin. The lessons below explain each "
        "part. This page takes about 20 minutes."
    ),
)
