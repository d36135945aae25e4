"""The controls of the chapter "A tool that computes", as its links write them."""

from llmviz.course.ui import codec

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
