"""The chapter "A series first" of the lesson "From counts to GPT"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

DRAWN = 48  # values of a series that is drawn by hand
HILLS = [
    *(50, 62, 74, 83, 90, 93, 92, 87, 79, 69, 58, 46, 36, 27, 21, 18),
    *(19, 23, 30, 40, 50, 61, 71, 79, 85, 87, 86, 82, 75, 66, 56, 46),
    *(37, 29, 24, 21, 22, 26, 32, 41, 50, 59, 68, 75, 80, 82, 81, 77),
]  # what stands there before anything is drawn

PARAMS = [
    codec.choice("series", "sunspots", list(words.sources)),
    codec.integers("drawn", HILLS, 0, 100, DRAWN),
    codec.text("typed", "1 1 2 3 5 8 13 21 34 55", 2_000),
    codec.integer("lags", 2, 1, 12),
    codec.integer("hold", 20, 0, 100),
    codec.integer("ahead", 0, 0, 100),
    codec.text("byhand", "", 1_000),
    codec.text("seriescell", ""),
]
