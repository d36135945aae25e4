"""The chapter "Teach" of the lesson "Training"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("taught", lambda: words.paragraph, 2_000),
    codec.flag("teaching", False),
]
