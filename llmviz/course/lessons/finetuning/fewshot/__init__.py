"""The chapter "Zero, one, few examples" of the lesson "From a base model to a helper"."""

from llmviz.corpus.rules import FEWEST, MOST
from llmviz.course.document import beside
from llmviz.course.lessons.finetuning.fewshot.model import MOST_EXAMPLES
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.integer("shots", 8, 0, MOST_EXAMPLES),
    codec.integer("groups", FEWEST, FEWEST, MOST),
    codec.integer("wrong", 0, 0, MOST_EXAMPLES),
    codec.integer("drawing", 1, 1, 9_999),
    codec.text("ownrule", "", 2_000),
    codec.text("rulehead", ""),  # layer and head; empty: the one that looks at the answers most
]
