"""The chapter "The head that carries it" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.defaults import FRANCE
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [codec.text("carrytext", FRANCE, 200), codec.text("carryhead", "")]
