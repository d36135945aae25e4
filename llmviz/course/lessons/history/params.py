"""The control that all chapters of this lesson share: the learner's name."""

from llmviz.course.ui import codec

NAME = codec.text("name", "olivia")
PARAMS = [NAME]
