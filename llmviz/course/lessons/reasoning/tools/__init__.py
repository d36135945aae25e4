"""The chapter "A tool that computes" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

TASKS = ("sum", "product", "chain", "longer")
TOOLS = ("off", "sign", "own")
MODELS = ("tool", "doubt")

PARAMS = [
    codec.choice("tooltask", "product", TASKS),
    codec.text("toolasked", "437 times 86", 60),
    codec.choice("toollie", "off", TOOLS),
    codec.text("toolsays", "no number", 60),
    codec.choice("toolmodel", "tool", MODELS),
]
