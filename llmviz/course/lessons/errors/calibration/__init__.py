"""The chapter "Is it as sure as it is right?" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.evaluation.calibration import TEMPERATURES

words = beside(__file__)

PARAMS = [
    codec.text("sure_model", "errors/by-heart"),
    codec.choice("against", "came", list(words.held_against)),
    codec.number("heat", 1.0, TEMPERATURES[0], TEMPERATURES[-1]),
    codec.flag("sure_measured", False),
]
