"""The controls of the chapter "The stages", as its links write them."""

from llmviz.course.lessons.finetuning.stages import words
from llmviz.course.ui import codec
from llmviz.finetuning.plan import WAYS

PARAMS = [
    codec.text("prompt", words.prompts["A question"], codec.MOST_OF_A_PROMPT),
    codec.choice("way", "last", list(WAYS)),
    codec.integer("outputs", 3, 2, 10),
]
