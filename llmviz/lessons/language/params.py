"""The controls that the chapters on sentences share, as their links write them."""

from llmviz.lessons.language import words
from llmviz.ui import codec
from llmviz.ui.state import LEARNER_TEXT

PARAMS = [LEARNER_TEXT, codec.text("sentence", words.sentence_default, 2_000)]
