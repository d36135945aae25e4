"""Chapter "Quantization"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec
from llmviz.quantization.quantized_models import METHODS
from llmviz.quantization.scheme import FEWEST_BITS, MOST_BITS, PER

words = beside(__file__)

PARAMS = [
    codec.choice("qview", "row", list(words.views)),
    codec.integer("qbits", 4, FEWEST_BITS, MOST_BITS),
    codec.choice("qform", "symmetric", list(words.forms)),
    codec.choice("qper", "channel", list(PER)),
    codec.choice("qgroup", "32", list(words.groups)),
    codec.integer("qlayer", 0, 0, 1_000),
    codec.choice("qmatrix", "attn.qkv", list(words.matrices)),
    codec.integer("qrow", -1, -1, 1_000_000),  # -1: the row with the largest weight
    codec.integer("qweight", -1, -1, 1_000_000),  # -1: the largest of the row
    codec.text("qcell", ""),
    codec.integer("qtimes", 1, 1, 30),
    codec.choice("qmethod", "rounding", list(METHODS)),
    codec.text("qtext", words.story, codec.MOST_OF_A_PROMPT),
    codec.choice("stairbits", "3", list(words.training_stair_bits)),
    codec.number("stairrate", 0.1, 0.02, 0.5),
    codec.choice("qatper", "channel", list(words.training_qat_per)),
    codec.choice("qatform", "symmetric", list(words.forms)),
    codec.integer("qatupdates", 300, 50, 1000),
    codec.flag("qattrained", False),
    codec.flag("qspeed", False),
]
