"""The lesson "Training": the loss, the update of weights, runs, and their curves."""

from llmviz.course.document import beside
from llmviz.course.ui.contents import Lesson

words = beside(__file__, "lesson")

LESSON = Lesson(
    key="training",
    words=words,
    icon=":material/model_training:",
    after=("tokenization", "attention"),
    linked_first="runs",
    names=(
        "windows",
        "loss",
        "curves",
        "step",
        "descent",
        "backprop",
        "runs",
        "overfitting",
    ),
    further=("optimizers", "race"),
)
