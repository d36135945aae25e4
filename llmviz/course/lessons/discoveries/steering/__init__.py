"""The chapter "Steering" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside
from llmviz.course.lessons.discoveries.steering.model import (
    FEATURE,
    KINDS,
    LAYERS,
    MEANS,
    PROMPT,
    TARGETS,
)
from llmviz.course.ui import codec

words = beside(__file__)

MOST_OF_PROMPT = 400  # characters

PARAMS = [
    codec.choice("steerkind", MEANS, KINDS),
    codec.choice("steertarget", "rule names", TARGETS),
    codec.integer("steerlayer", LAYERS[-2], LAYERS[0], LAYERS[-1]),
    codec.integer("steerhead", 0, 0, 3),
    codec.text("steerprompt", PROMPT, MOST_OF_PROMPT),
    codec.flag("steerrun", False),
    codec.choice("steerout", MEANS, (MEANS, FEATURE)),
    codec.text("steercell", ""),
]
