"""The words of the choice of tokens and models."""

CAT = "The cat sat"
JOURNEY = "Your journey starts with one step"
SOURCES = {"cat": "The cat sat", "journey": "Your journey …", "model": "Your text, real weights"}
SOURCE_LABEL = "Tokens from"
MATRIX_NAMES = {"x": "X", "wq": "W_Q", "wk": "W_K", "wv": "W_V", "wo": "W_O"}
JOURNEY_LABEL = "Words, in any order"
JOURNEY_COUNT = "This example takes 1 to {most} words; there are {count}."
JOURNEY_UNKNOWN = (
    "The word {word!r} has no vector in this example: a table of words has only the words that "
    "were put into it. They are: {known}."
)
SHAPE = "{name} must be {rows}×{columns} here; it is {found}."
LAYER = "Layer"
HEAD = "Head"
