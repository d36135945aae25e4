"""The controls of the chapter "Compare", as its links write them."""

from llmviz.lessons.tokenization import sources
from llmviz.lessons.tokenization.compare import words
from llmviz.tokenizers import TOKENIZERS
from llmviz.ui import codec

PARAMS = [
    codec.choices(
        "rows",
        ["word", "char", "bpe", "gpt2", "cl100k_base"],
        [*TOKENIZERS, sources.TRAINED, sources.LOADED],
    ),
    codec.text("words", words.units_default, 120),
]
