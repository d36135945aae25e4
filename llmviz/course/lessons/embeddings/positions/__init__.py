"""The chapter "Positions" of the lesson "Tokens to vectors"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

WITH, WITHOUT = "words-gpt", "words-gpt-no-positions"
PROMPT = "She thought the window was dirty, but it was"

PARAMS = [
    codec.text("prompt", PROMPT, 2_000),
    codec.integer("order", 0, 0, 999_999),  # 0: the words as they stand
]
