"""The controls of the chapter "The stages", as its links write them."""

from llmviz.finetuning.plan import WAYS
from llmviz.lessons.finetuning.stages import words
from llmviz.ui import codec

PARAMS = [
    codec.text("prompt", words.prompts["A question"], codec.MOST_OF_A_PROMPT),
    codec.choice("way", "last", list(WAYS)),
    codec.integer("outputs", 3, 2, 10),
]
