"""The controls that the chapters on sentences share, as their links write them."""

from llmviz.course.lessons.language import words
from llmviz.course.ui import codec

LIMIT = 1_500  # characters of a sentence, or of a short text
# Two sentences, in which words come again: what is counted needs them.
TEXT = "The cat sat on the mat. The kitten slept; tokenization isn't magic 🙂"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
    codec.text("sentence", words.sentence_default, LIMIT),
]
