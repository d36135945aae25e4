"""The controls of the chapter "MLP", as its links write them."""

from llmviz.course.lessons.history.mlp import words
from llmviz.course.ui import codec

SCALES = ["0.3", "1", "3", "6"]
PARAMS = [
    codec.choice("mlp", "window", list(words.looks)),
    codec.integer("slideat", -1, -1, 15),  # the letter whose window is opened; -1: the last one
    codec.text("sliding", ""),  # the kept number of the opened window
    codec.choice("map", "on", list(words.maps)),  # whose map is drawn: batch norm on or off
    codec.choice("bend", "tanh", list(words.bends)),
    codec.choice("firsts", "1", SCALES),  # the first weights, times this
    codec.integer("mapseed", 0, 0, 1_000_000),
    codec.integer("mapframe", -1, -1, 1_000),  # -1: the last frame
]
