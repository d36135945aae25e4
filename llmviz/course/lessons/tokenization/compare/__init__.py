"""The chapter "Compare" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.lessons.tokenization import sources
from llmviz.course.ui import codec
from llmviz.tokenizers import TOKENIZERS

words = beside(__file__)

PARAMS = [
    codec.choices("rows", ["word", "char", "bpe"], [*TOKENIZERS, sources.TRAINED, sources.LOADED]),
    codec.text("words", words.example, 120),  # what stands there until a learner writes
    codec.text("sentence", words.sentence_default, 300),
]
