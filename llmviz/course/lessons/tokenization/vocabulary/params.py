"""The control of the chapter "Words", as its links write it."""

from llmviz.course.lessons.tokenization.vocabulary import words
from llmviz.course.ui import codec

PARAMS = [codec.text("sentence", words.sentence_default, 300)]
