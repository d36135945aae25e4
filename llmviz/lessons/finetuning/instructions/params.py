"""The controls of the chapter "Following instructions", as its links write them."""

from llmviz.lessons.finetuning.instructions import words
from llmviz.ui import codec

PARAMS = [
    codec.text("story", words.STORY),
    codec.text("question", words.QUESTION),
    codec.text("reply", ""),  # the right answer, where the grammar does not know it
]
