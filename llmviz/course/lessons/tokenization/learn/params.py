"""The controls of the chapter "Learn", as its links write them."""

from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.learn import words
from llmviz.course.ui import codec

PARAMS = [
    *sources.TRAINING,
    codec.integer("step", 100, 0, 4096),
    codec.text("follow", words.subwords_default, 2_000),
    codec.integer("stems", 120, 0, 360),  # merges learned from the word forms
]
