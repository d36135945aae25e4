"""The chapter "Experts" of the lesson "What comes next"."""

from llmviz.corpus.villages import VILLAGES
from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

STEPS = (
    *(0, 5, 10, 20, 30, 40, 50, 75, 100, 150, 200),
    *(250, 300, 400, 500, 600, 800, 1000, 1250, 1500),
)
"""The moments of a training at which it was looked at."""

PARAMS = [
    codec.flag("evened", False),
    codec.choice("expertby", "village", ("village", "kind")),
    codec.choice("expertstep", str(STEPS[-1]), tuple(map(str, STEPS))),
    codec.choice("experttext", VILLAGES[0], VILLAGES),
    codec.flag("expertown", False),
]
