"""The chapter "One word more" of the lesson "Why is it wrong?"."""

from llmviz.course.document import beside
from llmviz.course.lessons.errors.asked.examples import EXAMPLES
from llmviz.course.ui import codec

words = beside(__file__)

MOST = 200  # characters of the learner's sentence

PARAMS = [
    codec.integer("askedstory", 1, 1, EXAMPLES),
    codec.text("askedbefore", words.own_sentence, MOST),
    codec.text("askedown", words.own_first["story"], codec.MOST_OF_A_TEXT),
    codec.text("askedfact", words.own_first["fact"], MOST),
    codec.text("askedquestion", words.own_first["question"], MOST),
    codec.text("askedreworded", words.own_first["reworded"], MOST),
]
