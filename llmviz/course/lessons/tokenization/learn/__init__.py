"""The chapter "Learn" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.lessons.tokenization import sources
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    *sources.TRAINING,
    codec.integer("step", 20, 0, 4096),
    codec.text("follow", words.subwords_default, 2_000),
    codec.integer("stems", 120, 0, 360),  # merges learned from the word forms
]
