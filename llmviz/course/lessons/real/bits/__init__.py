"""The chapter "Fewer bits" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.bits.model import GROUP, ROW
from llmviz.course.lessons.real.defaults import FRANCE
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("bitsper", ROW, (ROW, GROUP)),
    codec.choice("bitsleft", "5", ("8", "6", "5", "4", "3", "2")),
    codec.text("bitstext", FRANCE, 200),
]
