"""The controls of the chapter "Train one", as links write them."""

from llmviz.lessons.training.runs.presets import PRESETS, plan_params
from llmviz.ui import codec

PARAMS = [
    codec.text("run", ""),
    codec.choice("preset", next(iter(PRESETS)), list(PRESETS)),
    *plan_params(),
]
