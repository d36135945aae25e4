"""The chapter "Merge" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("word", words.word_default, 1_000),
    codec.flag("space", True),
    codec.choice("rules", "bpe", list(words.rule_names)),
    codec.integer("piece", 0, 0, 10_000),
    codec.integer("merges", 0, -1, 10_000),  # -1: all of them
    codec.choice("learned", "word-forms", list(words.corpora)),
    codec.integer("joins", 100, 0, 500),
    codec.text("forms", words.forms_default, 160),
]
