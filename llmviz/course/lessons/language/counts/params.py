"""The controls of the chapter "Counts", as its links write them."""

from llmviz.course.lessons.language.counts import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("counted", "auto", ["auto", *words.sources]),
    codec.integer("n", 1, 1, 5),
    codec.flag("fold", True),
    codec.text("weighed", ""),  # the open cell of the tf-idf tables, such as "weights.0.3"
]
