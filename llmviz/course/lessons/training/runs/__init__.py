"""The chapter "Train one" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.lessons.training.runs.plan_controls import plan_params
from llmviz.course.lessons.training.runs.presets import PRESETS, values_of
from llmviz.course.ui import codec

words = beside(__file__)

FIRST = next(iter(PRESETS))
PARAMS = [
    codec.text("run", ""),
    codec.choice("preset", FIRST, list(PRESETS)),
    *plan_params(values_of(FIRST)),
]
