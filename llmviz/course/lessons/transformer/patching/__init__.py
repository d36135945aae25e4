"""The chapter "Patching" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("prompt", words.own, 2_000),
    codec.text("donor", words.donor, 2_000),
    codec.text("answer", ""),  # none: the most probable token after the prompt
    codec.text("other", ""),  # none: the most probable token after the other prompt
    codec.choice("sites", "all", list(words.sites)),
    codec.text("site", ""),  # the opened cells, "stream.2.0" or "head.1.0.3,head.1.0.2"
]
