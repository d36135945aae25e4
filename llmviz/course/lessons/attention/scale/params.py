"""The controls of chapter "Why ÷√d", as its links write them."""

from llmviz.course.ui import codec

PARAMS = [codec.choice("size", "64", [str(2**k) for k in range(10)])]
