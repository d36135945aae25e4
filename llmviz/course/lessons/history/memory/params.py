"""The controls of the chapter "One test for all", as its links write them."""

from llmviz.course.lessons.history.memory import words
from llmviz.course.ui import codec

SHOWN = ("mlp", "rnn")  # the models whose lines are drawn at first

PARAMS = [
    codec.names("models", SHOWN, len(words.models), words.rule),
    codec.text("string", words.string_default, 1_000),
    codec.text(
        "asked", ""
    ),  # the opened answer, "gru.12"; none: the last letter of the first model
]
