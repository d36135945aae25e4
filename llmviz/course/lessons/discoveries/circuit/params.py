"""The controls of the chapter "A circuit, edge by edge", as its links write them."""

from dataclasses import replace

from llmviz.course.lessons.discoveries.circuit import words
from llmviz.course.ui import codec

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
