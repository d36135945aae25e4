"""The chapter "One test for all" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    # The models whose lines are drawn: two at first.
    codec.names("models", ("mlp", "rnn"), len(words.models), words.rule),
    codec.text("string", words.string_default, 1_000),
    # The opened answer, such as gru.12; none: the last letter of the first model.
    codec.text("asked", ""),
]
