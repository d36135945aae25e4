"""The chapter "What layers know" of the lesson "Words and their roles"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

LEAST, MOST = 20, 150  # stories that probes are fitted to
USUAL = 80  # those of the bundled measurements

PARAMS = [
    codec.choice("probe", "tag", list(words.kinds)),
    codec.text("probed", ""),  # the model; none: the story model
    codec.integer("told", USUAL, LEAST, MOST),
    codec.flag("probes", False),
]
