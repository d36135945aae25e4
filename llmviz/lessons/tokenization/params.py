"""The controls that all chapters on tokens share."""

from llmviz.lessons.tokenization.sources import TOKENIZER
from llmviz.ui.state import LEARNER_TEXT

PARAMS = [LEARNER_TEXT, TOKENIZER]
