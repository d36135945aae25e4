"""The controls of the page: which test, and whether the two are swapped."""

from llmviz.course.ui import codec

BEFORE, AFTER = "before", "after"
PARAMS = [
    codec.choice("when", BEFORE, (BEFORE, AFTER)),
    codec.flag("swapped", False),
]
