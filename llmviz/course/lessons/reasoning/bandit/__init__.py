"""The chapter "A reward and three arms" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.bandit.model import BASELINES, NONE, UPDATES
from llmviz.course.ui import codec

words = beside(__file__)

RATES = ("0.1", "0.2", "0.5", "1", "2")

PARAMS = [
    codec.number("paya", 0.5, -1, 1),
    codec.number("payb", 1.0, -1, 1),
    codec.number("payc", 0.2, -1, 1),
    codec.choice("armbase", NONE, BASELINES),
    codec.choice("armrate", "0.5", RATES),
    codec.integer("armseed", 0, 0, 999),
    codec.integer("armupdate", 1, 1, UPDATES),
    codec.text("armcell", ""),
]
