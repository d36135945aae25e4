"""The whole machine on the learner's own sentence."""

from llmviz.ui.lesson import Lesson

LESSON = Lesson(
    key="home",
    title="The whole machine",
    icon=":material/home:",
    card="",
    headline="How a language model reads and writes",
    promise=(
        "It reads some [[token|tokens]] and says how probable each token of its "
        "[[vocabulary]] is as the next one. Here it is at work on your own sentence: every "
        "line, cell and bar is a number that a model computed a moment ago."
    ),
    needs="You need to know nothing about language models to begin. The lessons below explain each "
    "part. This page takes about 20 minutes.",
)
