"""Chapter "Numbers as bits"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST = 4096  # additions

PARAMS = [
    codec.choice("sumlarge", "1", words.large),
    codec.choice("sumsmall", "0.001", words.small),
    codec.integer("added", MOST, 0, MOST),
    codec.text("number", "0.1"),
    codec.text("pattern", ""),  # bits that were flipped, as "FORMAT:BITS"
    codec.choice("bittraining", "gradient", list(words.parts)),
    codec.choice("gradmodel", "tiny-world-char", ("tiny-world-char", "names-gpt")),
    codec.choice("gradof", "activations", list(words.gradients_of)),
    codec.integer("scalepower", 0, 0, 24),
    codec.choice("updaterate", "0.001", words.rates),
    codec.choice("updatein", "bfloat16", list(words.updated_in)),
    codec.choices("ways", list(words.race_ways), list(words.race_ways), at_least=1),
    codec.integer("racesteps", 100, 20, 400),
    codec.integer("shrink", 0, 0, 16),
    codec.flag("precisionrun", False),
]
