"""The chapter "Following instructions" of the lesson "From a base model to a helper"."""

from llmviz.course.document import beside
from llmviz.course.lessons.finetuning.example_story import QUESTION, STORY
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("story", STORY, 4_000),
    codec.text("question", QUESTION, 1_000),
    codec.text("reply", "", 1_000),  # the right answer, where the grammar does not know it
]
