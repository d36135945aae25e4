"""Chapter "Flash attention"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

DRAWN = 16  # tokens of the text that are drawn
SIDE = 4  # rows of a tile, and columns, for a visitor who has chosen nothing
LENGTHS = tuple(2**power for power in range(6, 18))  # tokens
MEMORIES = (8, 16, 32, 64, 128, 256)  # KiB of fast memory
HEAD_SIZES = (16, 32, 64, 128, 256)

PARAMS = [
    codec.text("flashmodel", ""),  # none: the one with the lowest loss
    codec.integer("flashlayer", -1, -1, 1_000),  # -1: that of the head with the most rescaling
    codec.integer("flashhead", -1, -1, 1_000),
    codec.integer("tile", SIDE, 1, DRAWN),
    codec.integer("tilestep", 0, 0, DRAWN * DRAWN),
    codec.choice("flashlength", "4096", [str(length) for length in LENGTHS]),
    codec.choice("fastmemory", "128", [str(size) for size in MEMORIES]),
    codec.choice("headsize", "64", [str(size) for size in HEAD_SIZES]),
    codec.flag("skipped", True),  # tiles that the causal mask forbids are left out
    codec.flag("flashtimes", False),  # the measurement was begun
]
