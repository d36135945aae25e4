"""The controls of the chapter "Patching", as its links write them."""

from llmviz.course.lessons.transformer.patching import words
from llmviz.course.ui import codec

PARAMS = [
    codec.text("prompt", words.own, 2_000),
    codec.text("donor", words.donor, 2_000),
    codec.text("answer", ""),  # none: the most probable token after the prompt
    codec.text("other", ""),  # none: the most probable token after the other prompt
    codec.choice("sites", "all", list(words.sites)),
    codec.text("site", ""),  # the opened cells, "stream.2.0" or "head.1.0.3,head.1.0.2"
]
