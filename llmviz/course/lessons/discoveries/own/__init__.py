"""The chapter "Your own discovery" of the lesson "Discoveries you can repeat"."""

from llmviz.course.document import beside
from llmviz.course.lessons.discoveries.own import own_study
from llmviz.course.ui import codec
from llmviz.models.catalogue import DEFAULT

words = beside(__file__)

NOTHING = ""  # as a prediction: none was made yet

PARAMS = [
    codec.choice("studymodel", DEFAULT, own_study.TRAINED),
    codec.choice("studytext", "stories", tuple(own_study.TEXTS)),
    codec.choice("studysetting", "n_layer", tuple(own_study.SETTINGS)),
    codec.text("studyvalues", "1, 2, 4"),
    codec.choice("studymeasure", "floor", tuple(own_study.MEASURES)),
    codec.number("studytarget", 1.5, 0.01, 20.0),
    codec.integer("studyseeds", 3, 1, own_study.MOST_SEEDS),
    codec.integer("studysteps", 600, own_study.LEAST_STEPS, own_study.MOST_STEPS),
    codec.choice("studyprediction", "3", (NOTHING, *own_study.PREDICTIONS)),
    codec.text("studyhypothesis", words.hypothesis, own_study.MOST_HYPOTHESIS),
]
