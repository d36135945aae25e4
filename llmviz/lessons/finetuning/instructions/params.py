"""The controls of the chapter "Following instructions", as its links write them."""

from llmviz.lessons.finetuning.example_story import QUESTION, STORY
from llmviz.ui import codec

PARAMS = [
    codec.text("story", STORY),
    codec.text("question", QUESTION),
    codec.text("reply", ""),  # the right answer, where the grammar does not know it
]
