"""The controls of the chapter "Train one", as links write them."""

from llmviz.lessons.training.runs.plan_controls import plan_params
from llmviz.lessons.training.runs.presets import PRESETS, values_of
from llmviz.ui import codec

FIRST = next(iter(PRESETS))
PARAMS = [
    codec.text("run", ""),
    codec.choice("preset", FIRST, list(PRESETS)),
    *plan_params(values_of(FIRST)),
]
