"""The controls of the chapter "Is it as sure as it is right?", as its links write them."""

from llmviz.course.lessons.errors.calibration import words
from llmviz.course.ui import codec
from llmviz.evaluation.calibration import TEMPERATURES

PARAMS = [
    codec.text("sure_model", "errors/by-heart"),
    codec.choice("against", "came", list(words.held_against)),
    codec.number("heat", 1.0, TEMPERATURES[0], TEMPERATURES[-1]),
    codec.flag("sure_measured", False),
]
