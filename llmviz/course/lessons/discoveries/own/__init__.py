"""The chapter "Your own discovery" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside
from llmviz.course.lessons.discoveries.own.own_study import (
    LEAST_STEPS,
    MEASURES,
    MOST_HYPOTHESIS,
    MOST_SEEDS,
    MOST_STEPS,
    PREDICTIONS,
    SETTINGS,
    TEXTS,
    TRAINED,
)
from llmviz.course.ui import codec
from llmviz.models.catalogue import DEFAULT

words = beside(__file__)

NOTHING = ""  # as a prediction: none was made yet

PARAMS = [
    codec.choice("studymodel", DEFAULT, TRAINED),
    codec.choice("studytext", "stories", tuple(TEXTS)),
    codec.choice("studysetting", "n_layer", tuple(SETTINGS)),
    codec.text("studyvalues", "1, 2, 4"),
    codec.choice("studymeasure", "floor", tuple(MEASURES)),
    codec.number("studytarget", 1.5, 0.01, 20.0),
    codec.integer("studyseeds", 3, 1, MOST_SEEDS),
    codec.integer("studysteps", 600, LEAST_STEPS, MOST_STEPS),
    codec.choice("studyprediction", "3", (NOTHING, *PREDICTIONS)),
    codec.text("studyhypothesis", words.hypothesis, MOST_HYPOTHESIS),
]
