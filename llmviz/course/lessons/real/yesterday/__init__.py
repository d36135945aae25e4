"""The chapter "Yesterday" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.defaults import NAME
from llmviz.course.lessons.real.yesterday.model import LONGEST, WAYS
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("yesterdayway", "kept", WAYS),
    codec.text("yesterdayname", NAME, LONGEST),
]
