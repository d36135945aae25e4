"""The control of the glossary."""

from llmviz.course.ui import codec

PARAMS = [codec.text("find", "")]
