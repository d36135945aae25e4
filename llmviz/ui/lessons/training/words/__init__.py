"""The words of the lesson on training: its head here, each chapter's in its own module."""

from llmviz.ui.lessons.training.words import curves

__all__ = ["curves"]

TITLE = "Learning from mistakes"
PROMISE = (
    "A model learns by guessing the next [[token]], being told how wrong it was, and moving each "
    "of its numbers a little. Here you train one, watch its loss fall, pause it, break it, fork "
    "it, and take the arithmetic of a single step apart."
)
CHAPTERS = {
    "runs": "Train one",
    "curves": "Curves",
    "loss": "What the loss is",
    "descent": "Descent",
    "backprop": "Backpropagation",
    "race": "The race",
    "overfitting": "When it goes wrong",
}
