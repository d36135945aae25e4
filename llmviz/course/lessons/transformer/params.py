"""The controls that several chapters of the lesson share, as its links write them."""

from llmviz.course.lessons.transformer import words
from llmviz.course.ui import codec

TEXT = "One day Anna found a book. Samir found a candle. The book stayed with"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
    codec.text("model", ""),  # none: the one with the lowest loss
    codec.choice("of", "small", list(words.subject_subjects)),
    codec.integer("layer", 0, 0, 1_000),
]
