"""The controls of the chapter "One test for all", as its links write them."""

from llmviz.course.lessons.history.memory import words
from llmviz.course.ui import codec

PARAMS = [
    # The models whose lines are drawn: two at first.
    codec.names("models", ("mlp", "rnn"), len(words.models), words.rule),
    codec.text("string", words.string_default, 1_000),
    # The opened answer, such as gru.12; none: the last letter of the first model.
    codec.text("asked", ""),
]
