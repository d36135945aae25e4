"""The controls of the chapter "RNN, GRU, LSTM", as its links write them."""

from llmviz.course.lessons.history.recurrent import words
from llmviz.course.ui import codec

LETTERS, TIMES = 30, 1.0  # of the part on gradients, at first
PARAMS = [
    codec.choice("recurrent", "state", list(words.looks)),
    codec.choice("cell", "gru", list(words.cells)),
    codec.text("state", ""),  # the kept number of the strips, "hidden.2.5"
    codec.choice("gate", "first", ["first", "second", "third", "fourth"]),
    codec.text("gated", ""),  # the kept number of the opened gate
    codec.integer("through", LETTERS, 4, 60),  # letters that the gradient goes back through
    codec.number("times", TIMES, 0.25, 4.0),  # what fresh recurrent weights are multiplied by
    codec.number("clip", 1.0, 0.1, 10.0),  # the longest gradient that is not shortened
]
