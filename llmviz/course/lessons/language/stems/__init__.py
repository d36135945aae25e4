"""The chapter "Stems" of the lesson "Words and their roles"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [
    codec.text("forms", words.forms_default, 2_000),
    codec.text("rule", ""),  # the open cell, "column.row"; none: the first rule that fired
]
