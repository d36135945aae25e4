"""The whole machine on the learner's own sentence."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.course.ui.contents import Lesson

# A story that the toy world's model can go on with: the answer stands in it.
TEXT = (
    "It was Saturday, and Anna the cook felt joyful. Every day she had jam with Samir. They met at "
    "the market. And where was Anna? At the"
)
REAL_TEXT = "The capital of France is"  # what a real model begins with in its place
DEFAULT_MODEL = "tiny-world-gpt"

PARAMS = [
    codec.text("text", TEXT, codec.MOST_OF_A_TEXT, shared=True),
    codec.text("model", "", shared=True),  # "": the real model if it is here
    codec.integer("layer", -1, -1, 99),  # -1: the layer with the most decided head
    codec.integers("heads", [], 0, 99),  # none: the most decided head of each layer
    codec.integer("row", -1, -1, 100_000),  # position in the model's window, -1: the last
    codec.integer("step", -1, -1, 299),  # stage of the picture, -1: all of them
    codec.flag("end", False),  # the end of the hour
    codec.text("guessed", "", 6_000),  # on the way to it, as JSON
    codec.number("temperature", 0.0, 0.0, 3.0),
    codec.integer("seed", 1, 0, 2**31 - 1),
]


words = beside(__file__, "lesson")

LESSON = Lesson(
    key="home",
    words=words,
    icon=":material/home:",
)
