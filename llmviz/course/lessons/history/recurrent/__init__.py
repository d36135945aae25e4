"""The chapter "RNN, GRU, LSTM" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("recurrent", "state", list(words.parts), moved={"units": "state", "time": "past"}),
    codec.choice("cell", "gru", list(words.cells)),
    codec.text("state", ""),  # the kept number of the strips, "hidden.2.5"
    codec.choice("gate", "first", ["first", "second", "third", "fourth"]),
    codec.text("gated", ""),  # the kept number of the opened gate
    codec.integer("through", 30, 4, 60),  # letters that the gradient goes back through
    codec.number("times", 1.0, 0.25, 4.0),  # what fresh recurrent weights are multiplied by
]
