"""The controls of the chapter "What layers know", as its links write them."""

from llmviz.course.lessons.language.probing import words
from llmviz.course.ui import codec

LEAST, MOST = 20, 150  # stories that probes are fitted to
USUAL = 80  # those of the bundled measurements

PARAMS = [
    codec.choice("probe", "tag", list(words.kinds)),
    codec.text("probed", ""),  # the model; none: the story model
    codec.integer("told", USUAL, LEAST, MOST),
    codec.flag("probes", False),
]
