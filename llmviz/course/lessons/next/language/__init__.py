"""The chapter "Language" of the lesson "What comes next"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST_OF_SENTENCE = 200  # characters

PARAMS = [
    codec.choice("cutter", "gpt2", ("gpt2", "cl100k_base", "o200k_base", "smollm2")),
    codec.flag("bycost", False),
    codec.choice("speech", "Hindi", [*words.speeches]),
    codec.choice("mixed", "0.01", ("0.01", "0.1", "0.5")),
    codec.text("respelt", words.example, MOST_OF_SENTENCE),
]
