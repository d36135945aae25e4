"""The chapter "Three ways" of the lesson "Tokens to vectors"."""

from dataclasses import replace

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

WAYS = ("sinusoidal", "learned", "rotary")
LENGTHS = (8, 16, 32, 64, 128, 256)
WIDTHS = (2, 4, 8, 16, 32, 64, 128)
BASES = (10, 100, 1_000, 10_000, 100_000)
TABLE_MODEL = "tiny-world-gpt"
SENTENCE = "the cat sat on the mat, on the mat the cat sat"
# A model of each kind of positions: the first three were trained alike, the last in another way.
LONGER = {
    "sinusoidal": "since-2017/rms-norm",
    "learned": "since-2017/learned",
    "rotary": "since-2017/rotary",
    "none": "words-gpt-no-positions",
}
TURN_WIDTH = 6  # numbers of a query that are turned cell by cell

PARAMS = [
    replace(codec.choice("placing", WAYS[0], WAYS), formerly="way"),
    codec.integer("length", 64, 2, LENGTHS[-1]),
    codec.integer("width", 64, 2, WIDTHS[-1]),
    codec.integer("base", 10_000, 2, 1_000_000),
    codec.text("placed", TABLE_MODEL),
    codec.integer("position", 8, 0, LENGTHS[-1] - 1),
    codec.integer("number", 6, 0, 1_000),  # the column of the table
    codec.text("sat", SENTENCE, 2_000),
    codec.integer("from", 0, 0, 100_000),  # the first of the columns that are added
    codec.text("sum", ""),
    codec.text("asks", "cat"),
    codec.text("answers", "mat"),
    codec.integer("m", 9, 0, 60),
    codec.integer("n", 4, 0, 60),
    codec.integer("shift", 20, 0, 200),
    codec.text("turn", ""),
]
