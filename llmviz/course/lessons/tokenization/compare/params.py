"""The controls of the chapter "Compare", as its links write them."""

from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization.compare import words
from llmviz.course.ui import codec
from llmviz.tokenizers import TOKENIZERS

PARAMS = [
    codec.choices("rows", ["word", "char", "bpe"], [*TOKENIZERS, sources.TRAINED, sources.LOADED]),
    codec.text("words", words.example, 120),  # what stands there until a learner writes
    codec.text("sentence", words.sentence_default, 300),
]
