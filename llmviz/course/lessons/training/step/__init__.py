"""The chapter "One step of training" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.lessons.training.step.one_step import RATES, STEPS
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("batch_rows", 2, 1, 3),
    codec.integer("batch_width", 3, 2, 4),
    codec.integer("batch_step", 1, 1, STEPS),
    codec.choice("batch_opt", "sgd", list(RATES)),
    codec.number("batch_clip", 0.5, 0.0, 5.0),
    codec.integer("batch_seed", 0, 0, 9_999),
    codec.integer("batch_token", -1, -1, 1_000_000),  # −1: the row with the largest gradient
    codec.integer("forward_at", -1, -1, 20),  # of the pictures' captions; −1: the last
    codec.text("forward_cell", ""),
    codec.integer("update_at", -1, -1, 20),
    codec.text("update_cell", ""),
    codec.flag("batch_resume", False),
]
