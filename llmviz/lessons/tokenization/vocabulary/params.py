"""The control of the chapter "Words", as its links write it."""

from llmviz.lessons.tokenization.vocabulary import words
from llmviz.ui import codec

PARAMS = [codec.text("sentence", words.sentence_default, 300)]
