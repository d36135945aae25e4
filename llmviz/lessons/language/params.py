"""The controls that the chapters on sentences share, as their links write them."""

from llmviz.lessons.language import words
from llmviz.ui import codec
from llmviz.ui.state import LEARNER_TEXT

LIMIT = 1_500  # characters of a sentence, or of a short text

PARAMS = [LEARNER_TEXT, codec.text("sentence", words.sentence_default, LIMIT)]
