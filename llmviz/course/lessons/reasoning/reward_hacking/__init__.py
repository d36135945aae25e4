"""The chapter "Rewards that are gamed" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.reward_hacking.model import MOST_PATTERN, PATTERN
from llmviz.course.ui import codec

words = beside(__file__)

BETAS = ("0", "0.01", "0.03", "0.1", "0.3", "1", "3")

LEASHES = ("0", "0.1", "1")  # of the bundled runs

PARAMS = [
    codec.choice("payleash", "0", LEASHES),
    codec.number("payright", 0.0, -1, 1),
    codec.number("payshort", 0.0, -1, 1),
    codec.number("payword", 0.0, -1, 1),
    codec.number("payform", 1.0, -1, 1),
    codec.text("payholds", "12", 12),
    codec.text("paypattern", PATTERN, MOST_PATTERN),
    codec.choice("paybeta", "0", BETAS),
    codec.integer("payupdates", 40, 10, 80),
    codec.flag("payrun", False),
]
