"""The chapter "A tool that computes" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

TASKS = ("sum", "product", "chain", "longer")

PARAMS = [codec.choice("tooltask", "product", TASKS)]
