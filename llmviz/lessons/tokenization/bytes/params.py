"""The controls of the chapter "Bytes", as its links write them."""

from llmviz.lessons.tokenization.bytes import words
from llmviz.ui import codec

PARAMS = [codec.choice("sample", "all", list(words.bytes_samples))]
