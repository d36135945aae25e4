"""The controls of chapter "A trained model", as its links write them."""

from llmviz.course.ui import codec

MOST_NEW = 40  # tokens that the model writes after the learner's text

PARAMS = [
    codec.integer("new", 0, 0, MOST_NEW),
    codec.integer("story", 0, 0, 999),  # with two things, in which the model looks up who has one
    codec.choice("mover", "0", list("0123")),  # of the heads that look it up, which is opened
    codec.text("looked", ""),  # the question and the token whose weight is opened, "1.87"
]
