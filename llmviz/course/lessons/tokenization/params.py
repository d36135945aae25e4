"""The controls that all chapters on tokens share."""

from llmviz.course.lessons.tokenization.sources import TOKENIZER
from llmviz.course.ui.state import LEARNER_TEXT

PARAMS = [LEARNER_TEXT, TOKENIZER]
