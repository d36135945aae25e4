"""The chapter "A circuit, edge by edge" of the lesson "Discoveries you can repeat"."""

from dataclasses import replace

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

PATH = "embed>mlp.0,mlp.0>head.1.3,head.1.3>head.3.2,head.3.2>logits"

MOST_OWN = 24  # edges of a hypothesis

PARAMS = [
    codec.text("model", ""),  # none: the one with the lowest loss
    codec.text("prompt", words.own, 600),
    codec.text("donor", words.donor, 600),
    codec.text("answer", ""),  # none: the most probable token after the prompt
    codec.text("other", ""),  # none: the most probable token after the other prompt
    codec.integer("edgeskept", 12, 0, 1_000),  # circuit.MOST_EDGES, without torch
    replace(codec.text("hypothesis", PATH, 1_000), at_most=MOST_OWN),
]
