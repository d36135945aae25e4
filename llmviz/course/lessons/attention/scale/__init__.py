"""The chapter "Why ÷√d" of the lesson "Attention"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PARAMS = [codec.choice("size", "64", [str(2**k) for k in range(10)])]
