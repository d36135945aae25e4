"""The chapter "Counts" of the lesson "Words and their roles"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("counted", "auto", ["auto", *words.sources]),
    codec.integer("n", 1, 1, 5),
    codec.flag("fold", True),
    codec.text("weighed", ""),  # the open cell of the tf-idf tables, such as "weights.0.3"
]
