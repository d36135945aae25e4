"""The chapter "The stages" of the lesson "From a base model to a helper"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.finetuning.plan import WAYS

words = beside(__file__)

PARAMS = [
    codec.text("prompt", words.prompts["A question"], codec.MOST_OF_A_PROMPT),
    codec.choice("way", "last", list(WAYS)),
    codec.integer("outputs", 3, 2, 10),
]
