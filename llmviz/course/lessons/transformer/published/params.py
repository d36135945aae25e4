"""The controls of the chapter "Your own model, or GPT-2", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [codec.text("published", "", 1_000)]  # a folder, or a name on the hub
