"""The control that the chapters on a calculator share, as their links write it."""

from llmviz.course.ui import codec

PARAMS = [codec.text("toolasked", "437 times 86", 60)]
