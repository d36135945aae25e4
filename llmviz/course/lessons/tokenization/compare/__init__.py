"""The chapter "Compare" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.lessons.tokenization import sources
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choices("rows", ["word", "char", "bpe"], sources.OFFERED),
    codec.text("words", words.example, 120),  # what stands there until a learner writes
    codec.text("sentence", words.sentence_default, 300),
    codec.choice("sample", "all", list(words.samples)),  # of the signs whose bytes are counted
]
