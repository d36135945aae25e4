"""The chapter "Windows" of the lesson "Training"."""

from dataclasses import replace

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.tokenizers import TOKENIZERS

words = beside(__file__)

PARAMS = [
    replace(codec.choice("cutter", "bpe", list(TOKENIZERS)), formerly="tokenizer"),
    codec.integer("context", 4, 1, 16),
    codec.integer("stride", 3, 1, 32),
    codec.integer("batch", 2, 1, 8),
    codec.integer("window", 0, 0, 1_000),
]
