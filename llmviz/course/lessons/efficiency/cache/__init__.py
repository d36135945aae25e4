"""Chapter "The cache"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.models.costs import BYTES
from llmviz.models.pass_work import KNOWN

words = beside(__file__)

WRITTEN = 8  # tokens that the model writes behind the text
READ = 24  # tokens of the text that are read

PARAMS = [
    codec.text("cachemodel", ""),  # none: the one with the lowest loss
    codec.text("cachetext", "Once Anna and Samir met at the market. Then", codec.MOST_OF_A_PROMPT),
    codec.integer("cachelength", 12, 1, READ + WRITTEN),
    codec.integer("cachelayer", 0, 0, 1_000),
    codec.integer("cachehead", 0, 0, 1_000),
    codec.text("cachecell", ""),
    codec.choice("cacheshape", "Llama 2 70B", list(KNOWN)),
    codec.integer("cachelayers", KNOWN["Llama 2 70B"].layers, 0, 1_000_000),
    codec.integer("cacheheads", KNOWN["Llama 2 70B"].heads, 0, 1_000_000),
    codec.integer("cachekvheads", KNOWN["Llama 2 70B"].kv_heads, 0, 1_000_000),
    codec.integer("cacheheadsize", KNOWN["Llama 2 70B"].head_size, 0, 1_000_000),
    codec.integer("cachetokens", 4096, 1, 131_072),
    codec.integer("cachetexts", 8, 1, 256),
    codec.choice("cachedtype", "bfloat16", list(BYTES)),
    codec.integer("decodebatch", 0, 0, 5),  # place in BATCHES
    codec.flag("roofline", False),
]
