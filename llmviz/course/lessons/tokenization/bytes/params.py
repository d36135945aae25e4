"""The controls of the chapter "Bytes", as its links write them."""

from llmviz.course.lessons.tokenization.bytes import words
from llmviz.course.ui import codec

PARAMS = [codec.choice("sample", "all", list(words.samples))]
