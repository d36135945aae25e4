"""The lesson "Training": the loss, the update of weights, runs, and their curves."""

from llmviz.course.components.run_film.view import PANES
from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson
from llmviz.course.ui.state import LEARNER_TEXT

PARAMS = [
    LEARNER_TEXT,
    # Of a run and the film of it; −1 is the newest step.
    codec.integer("at", -1, -1, 1_000_000_000),
    codec.integer("film_head", 0, 0, 999),
    codec.integer("film_asking", 999, 0, 999),  # the last token, where there are fewer
    codec.choice("film_pane", PANES[0], list(PANES)),
    codec.text("film_text", "", 40),
]


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="training",
    words=words,
    icon=":material/model_training:",
    after=("tokenization", "attention"),
    linked_first="runs",
    names=(
        "teach",
        "loss",
        "curves",
        "step",
        "descent",
        "backprop",
        "runs",
        "overfitting",
    ),
    further=("optimizers",),
    moved={"windows": "loss#frames", "race": "curves#race"},
)
