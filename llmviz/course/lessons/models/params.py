"""The control of the page of the models, as its links write it."""

from llmviz.course.ui import codec

PARAMS = [codec.text("published", "", 1_000)]  # a folder, or a name on the hub
