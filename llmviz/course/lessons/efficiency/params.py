"""The controls that several chapters of the lesson share, as its links write them."""

from llmviz.course.ui import codec

TEXT = "Once Anna and Samir met at the market. Then"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
]
