"""The chapter "Learned by heart" of the lesson "Why is it wrong?"."""

from llmviz.corpus.planted import EACH, LENGTH, MOST_TIMES, TIMES
from llmviz.course.document import beside
from llmviz.course.lessons.errors.read_planted import PASSES, SEEDS
from llmviz.course.ui import codec

words = beside(__file__)

MOST_OF_A_SENTENCE = 300  # characters

PARAMS = [
    codec.integer("hearttext", 0, 0, len(SEEDS) - 1),
    codec.choice("heartpasses", str(PASSES[-1]), [str(passes) for passes in PASSES]),
    codec.choice("hearttimes", "5", [str(times) for times in TIMES]),
    codec.integer("heartsentence", 0, 0, EACH - 1),
    codec.integer("heartgiven", 1, 1, LENGTH),
    codec.number("heartloss", 2.0, 0.0, 12.0),
    codec.text("heartown", "My secret word is velvet lantern seven.", MOST_OF_A_SENTENCE),
    codec.integer("heartowntimes", 5, 0, MOST_TIMES),
    codec.flag("heartread", False),
]
