"""The controls of the chapter "Following instructions", as its links write them."""

from llmviz.course.lessons.finetuning.example_story import QUESTION, STORY
from llmviz.course.ui import codec

PARAMS = [
    codec.text("story", STORY, 4_000),
    codec.text("question", QUESTION, 1_000),
    codec.text("reply", "", 1_000),  # the right answer, where the grammar does not know it
]
