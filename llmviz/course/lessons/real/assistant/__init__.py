"""The chapter "The same numbers as a chat" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.defaults import QUESTIONS
from llmviz.course.ui import codec

words = beside(__file__)

ALONE, ASKED = QUESTIONS[0]
PARAMS = [codec.text("chatalone", ALONE, 300), codec.text("chatquestion", ASKED, 300)]
