"""The chapter "Copying nonsense" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [codec.text("copytext", "", 300), codec.text("copyhead", "")]
