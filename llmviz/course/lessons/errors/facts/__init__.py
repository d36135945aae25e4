"""The chapter "Facts seen once" of the lesson "Why is it wrong?"."""

from llmviz.corpus.invented import COUNTS, TOWNS, first_names, surnames
from llmviz.course.document import beside
from llmviz.course.lessons.errors.read_facts import MOST_PASSES, PASSES, SEEDS, UNKNOWN
from llmviz.course.ui import codec

words = beside(__file__)

MOST_OWN = 200  # how often a learner's fact may stand in the text

PARAMS = [
    codec.integer("factworld", 0, 0, len(SEEDS) - 1),
    codec.choice("facttimes", "0", [str(times) for times in COUNTS]),
    codec.choice("askfirst", first_names()[0], first_names()),
    codec.choice("asklast", surnames()[0], surnames()),
    codec.choice("factunknown", "200", [str(unknown) for unknown in UNKNOWN]),
    codec.number("factcost", 1.0, 0.0, 9.0),
    codec.choice("ownfirst", first_names()[1], first_names()),
    codec.choice("ownlast", surnames()[1], surnames()),
    codec.choice("owntown", TOWNS[-1], TOWNS),
    codec.integer("owntimes", 1, 0, MOST_OWN),
    codec.integer("ownpasses", PASSES, 1, MOST_PASSES),
    codec.flag("ownread", False),
]
