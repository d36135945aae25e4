"""The chapter "Word2vec" of the lesson "Tokens to vectors"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

CORPORA = ("tiny-world", "story", "text")
DIMENSIONS = (1, 2, 3, 4, 8, 16, 24, 32, 48, 64)
RATES = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 4.0)
EPOCHS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
MOST_WINDOW, MOST_NEGATIVES, MOST_WATCHED, MOST_ALSO = 15, 20, 3, 20
WATCHED = ["Monday", "France"]
LIT = [0, 1, 2, 3, 4, 13, 14, 15]  # of llmviz.corpus.word_categories, in their order


def word_list(key: str, default: list[str], most: int) -> codec.Param:
    """A few different words; a word of a text holds no comma."""
    rule = f"the list can have at most {most} words, all different"
    return codec.names(key, default, most, rule, longest=300)


PARAMS = [
    codec.choice("corpus", CORPORA[0], CORPORA),
    codec.integer("window", 6, 1, MOST_WINDOW),
    codec.integer("dim", 24, 1, DIMENSIONS[-1]),
    codec.integer("negatives", 5, 1, MOST_NEGATIVES),
    codec.number("rate", 0.05, 1e-5, 1000.0),
    codec.integer("epochs", 20, 1, EPOCHS[-1]),
    codec.integer("seed", 0, 0, 2**31 - 1),
    codec.flag("trained", False),  # show the learner's own film; a link trains it again
    codec.text("also", "", 1_000),  # words that the film must hold
    codec.integer("frame", -1, -1, 100_000),
    codec.integer("center", 0, 0, 31),
    word_list("watch", WATCHED, MOST_WATCHED),
    codec.integers("kinds", LIT, 0, 100),
    codec.text("product", ""),  # the kept cell of one pair's arithmetic
]
