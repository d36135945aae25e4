"""The chapter "Sums with words" of the lesson "Tokens to vectors"."""

from llmviz.corpus.probes import RELATIONS
from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST_WORDS = 16  # of a list

PARAMS = [
    codec.text("plus", "king"),
    codec.text("minus", "man"),
    codec.text("add", "woman"),
    codec.choice("relation", "pairs", RELATIONS),
    codec.flag("inputs", False),
    codec.text("listed", ""),  # the kept cell of the list
    codec.text("list", "king, queen, man, woman, cat, dog, kitten, red, blue, six, seven", 2_000),
]
