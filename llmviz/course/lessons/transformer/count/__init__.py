"""The chapter "Parameters" of the lesson "Inside the transformer"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.models.costs import BYTES, PRESETS
from llmviz.models.settings import ACTIVATIONS, NORM_KINDS, POSITIONS, GPTConfig

words = beside(__file__)

FIRST = "GPT-2"
START = GPTConfig.from_dict(PRESETS[FIRST])

PARAMS = [
    codec.choice("shape", FIRST, list(PRESETS)),
    codec.integer("layers", START.n_layer, 1, 200),
    codec.integer("heads", START.n_head, 1, 256),
    codec.integer("kv", 0, 0, 256),
    codec.integer("width", START.n_embd, 1, 32_768),
    codec.integer("hidden", 0, 0, 131_072),
    codec.integer("vocab", START.vocab_size, 1, 1_000_000),
    codec.integer("context", START.context_length, 1, 1_000_000),
    codec.choice("positions", START.positions, POSITIONS),
    codec.choice("norm", START.norm_kind, NORM_KINDS),
    codec.choice("activation", START.activation, ACTIVATIONS),
    codec.integer("experts", 1, 1, 64),
    codec.flag("tied", START.tied_head),
    codec.flag("qkvbias", START.qkv_bias),
    codec.flag("bias", START.bias),
    codec.integer("batch", 8, 1, 100_000),
    codec.choice("stored", "bfloat16", list(BYTES)),
]
