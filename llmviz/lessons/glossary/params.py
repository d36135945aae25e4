"""The control of the glossary."""

from llmviz.ui import codec

PARAMS = [codec.text("find", "")]
