"""The chapter "Distilling" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.distillation.distil_record import AMOUNTS, BUNDLED
from llmviz.course.lessons.reasoning.distillation.distilling import SOFT_1, UPDATES, WAYS
from llmviz.course.ui import codec

words = beside(__file__)

HEATS = ("0.5", "1", "1.5", "2", "3", "4", "6", "10")
WHERE = ("can", "must")  # kinds of places of the word
COUNTS = tuple(map(str, AMOUNTS))

PARAMS = [
    codec.choice("distwhere", WHERE[0], WHERE),
    codec.text("disttext", words.story, 1_000),
    codec.integer("distat", -1, -1, 300),  # the open token; −1: see `open_place`
    codec.choice("distheat", "2", HEATS),
    codec.choice("diststudent", BUNDLED[0], BUNDLED),
    codec.text("distcell", ""),
    codec.choice("distcount", COUNTS[0], COUNTS),
    codec.choice("distway", SOFT_1, tuple(WAYS)),
    codec.integer("distupdates", 160, 40, UPDATES),
    codec.flag("distrun", False),
]
