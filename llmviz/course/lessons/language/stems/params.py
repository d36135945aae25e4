"""The controls of the chapter "Stems", as its links write them."""

from llmviz.course.lessons.language.stems import words
from llmviz.course.ui import codec

PARAMS = [
    codec.text("forms", words.forms_default, 2_000),
    codec.text("rule", ""),  # the open cell, "column.row"; none: the first rule that fired
]
