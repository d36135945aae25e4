"""The controls of the chapter "Preferences", as its links write them."""

from llmviz.course.lessons.finetuning.preferences import words
from llmviz.course.ui import codec

PARAMS = [
    codec.choice("rule", "place", list(words.rules)),
    codec.integer("pair", 1, 1, 5),
    codec.choice("beta", "0.1", list(words.betas)),
    codec.integer("preferupdates", 40, 8, 120),
    codec.flag("prefer", False),
    codec.text("pairscell", ""),
    codec.text("beginning", words.story, codec.MOST_OF_A_PROMPT),
]
