"""The controls of the chapter "Train one", as links write them."""

from llmviz.course.lessons.training.runs.plan_controls import plan_params
from llmviz.course.lessons.training.runs.presets import PRESETS, values_of
from llmviz.course.ui import codec

FIRST = next(iter(PRESETS))
PARAMS = [
    codec.text("run", ""),
    codec.choice("preset", FIRST, list(PRESETS)),
    *plan_params(values_of(FIRST)),
]
