"""Chapter "Training memory"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.models.costs import PRESETS
from llmviz.models.training_bytes import DTYPES

words = beside(__file__)

FIRST = PRESETS["GPT-2 XL"]

PARAMS = [
    codec.text("memorymodel", ""),  # none: the one with the lowest loss
    codec.integer("memoryrows", 4, 1, 8),
    codec.integer("memorytokens", 64, 8, 128),
    codec.integer("memorypieces", 1, 1, 8),
    codec.integer("memoryrecompute", 0, 0, 1_000),
    codec.integer("memorymoment", -1, -1, 1_000_000),  # -1: the peak
    codec.flag("memoryways", False),
    codec.choice("papershape", "GPT-2 XL", list(PRESETS)),
    codec.integer("paperlayers", FIRST["n_layer"], 0, 1_000),
    codec.integer("paperheads", FIRST["n_head"], 0, 1_000),
    codec.integer("paperwidth", FIRST["n_embd"], 0, 1_000_000),
    codec.integer("papervocab", FIRST["vocab_size"], 0, 10_000_000),
    codec.integer("paperrows", 32, 0, 1_000_000),
    codec.integer("papertokens", 1024, 0, 10_000_000),
    codec.choice("paperdtype", "bfloat16", DTYPES),
    codec.choice("paperoptimizer", "adamw", list(words.optimizers)),
    codec.integer("paperrecompute", 0, 0, 1_000),
    codec.integer("paperpieces", 1, 0, 100_000),
    codec.choice("paperattention", "fused", list(words.attentions)),
    codec.number("papergb", 80, 0.001, 1_000_000),
]
