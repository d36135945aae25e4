"""The chapter "Longer texts" of the lesson "What comes next"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("stretch", "plain", ("plain", "linear", "ntk", "yarn", "learned")),
    codec.flag("stretchtuned", False),
]
