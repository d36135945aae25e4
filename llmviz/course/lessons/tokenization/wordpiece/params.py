"""The controls of the chapter "WordPiece", as its links write them."""

from llmviz.course.lessons.tokenization.wordpiece import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("learned", "word-forms", list(words.corpora)),
    codec.integer("joins", 100, 0, 500),
    codec.text("forms", words.forms_default, 160),
]
