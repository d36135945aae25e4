"""The chapter "Reading the stream" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.choice("lens", "probability", list(words.colours)),
    codec.text("point", ""),  # the opened cell, "row.column"; none: the last one
    codec.text("credit", ""),  # whose logit is taken apart; none: the most probable token
    codec.text("against", ""),  # another token, whose logit is taken off; none: no other
    codec.choice("parts", "all", list(words.parts)),
    codec.text("readcell", ""),  # the kept cell of the arithmetic
    codec.text("share", ""),  # the opened part, "head.1.0"; none: the one that added most
    codec.text("sharecell", ""),  # the kept cell of its arithmetic
]
