"""The chapter "Who is a midwife?" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("peoplejob", "teacher", 40),
    codec.text("peoplefirst", "he", 20),
    codec.text("peoplesecond", "she", 20),
]
