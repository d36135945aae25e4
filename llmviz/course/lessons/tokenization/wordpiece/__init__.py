"""The chapter "WordPiece" of the lesson "Text to tokens"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("learned", "word-forms", list(words.corpora)),
    codec.integer("joins", 100, 0, 500),
    codec.text("forms", words.forms_default, 160),
]
