"""The chapter "A rule from examples" of the lesson "Inside a real model"."""

from llmviz.course.document import beside
from llmviz.course.lessons.real.examples.model import RULES, written
from llmviz.course.ui import codec

words = beside(__file__)

OPPOSITES = written(RULES["opposites"])
OWN = "own"
PARAMS = [
    codec.choice("rule", "opposites", [*RULES, OWN]),
    codec.text("rulepairs", OPPOSITES, 1_000),
]
