"""The controls that several chapters of the lesson on embeddings share, as its links write them."""

from llmviz.course.ui import codec
from llmviz.course.ui.state import LEARNER_TEXT

DEFAULT_MODEL = "tiny-world-gpt"

PARAMS = [
    LEARNER_TEXT,
    codec.text("model", DEFAULT_MODEL),
    codec.text("word", "kitten"),
    codec.text("other", "cat"),
    codec.text("term", ""),  # the kept cell of what is compared
]
