"""The chapter "More ideas than dimensions" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside
from llmviz.course.lessons.discoveries.superposition.model import (
    DENSITIES,
    MOST_DIMENSIONS,
    MOST_FEATURES,
    SEEDS,
)
from llmviz.course.ui import codec

words = beside(__file__)

OWN_DENSITIES = ("1", "0.7", "0.5", "0.3", "0.2", "0.1", "0.05", "0.02", "0.01")
OWN_RATIOS = ("1", "0.95", "0.9", "0.8", "0.7", "0.5")
FEATURES = 5  # of the bundled trainings

PARAMS = [
    codec.choice("toydensity", "0.05", [f"{density:g}" for density in DENSITIES]),
    codec.integer("toyseed", 0, 0, len(SEEDS) - 1),
    codec.integer("toyframe", -1, -1, 999),
    codec.choices("toyon", ["1"], [str(feature + 1) for feature in range(FEATURES)]),
    codec.text("toycell", ""),
    codec.integer("ownfeatures", 7, 2, MOST_FEATURES),
    codec.integer("owndims", 2, 2, MOST_DIMENSIONS),
    codec.choice("owndensity", "0.05", OWN_DENSITIES),
    codec.choice("ownratio", "1", OWN_RATIOS),
    codec.integer("ownseed", 0, 0, 999),
    codec.flag("owntoy", False),
]
