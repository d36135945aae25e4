"""The chapter "Preferences" of the lesson "From a base model to a helper"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("rule", "place", list(words.rules)),
    codec.integer("pair", 1, 1, 5),
    codec.choice("beta", "0.1", list(words.betas)),
    codec.integer("preferat", 120, 0, 120),
    codec.integer("preferupdates", 40, 8, 120),
    codec.flag("prefer", False),
    codec.text("pairscell", ""),
    codec.text("beginning", words.story, codec.MOST_OF_A_PROMPT),
]
