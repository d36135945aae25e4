"""Chapter "Guess and check"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

WRITTEN = 24  # tokens that are written
MOST_STEPS = 3 * WRITTEN  # a round of one token has at most three: a guess, its check, a draw

PARAMS = [
    codec.text("guesstext", words.story, codec.MOST_OF_A_PROMPT),
    codec.choice("draft", "network", list(words.drafts)),
    codec.integer("guesses", 4, 1, 8),
    codec.number("guessheat", 1.0, 0.0, 2.0),
    codec.integer("guessluck", 1, 1, 99),
    codec.integer("guessstep", 0, 0, MOST_STEPS),
    codec.choice("guesssize", "wide", list(words.sizes)),
    codec.flag("guessspeed", False),
]
