"""The controls that the chapters on sentences share, as their links write them."""

from llmviz.course.lessons.language import words
from llmviz.course.ui import codec
from llmviz.course.ui.state import LEARNER_TEXT

LIMIT = 1_500  # characters of a sentence, or of a short text

PARAMS = [LEARNER_TEXT, codec.text("sentence", words.sentence_default, LIMIT)]
