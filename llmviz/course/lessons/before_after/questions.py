"""The questions of the two tests: their words with what was computed for them."""

from typing import NamedTuple

from llmviz.corpus.words import CAPITALS
from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.before_after import AFTER, BEFORE, words
from llmviz.course.lessons.before_after.two_tests import TESTS, items
from llmviz.course.ui import engine, kit
from llmviz.course.ui.class_answers import Ask

MODEL = "tiny-world-gpt"
ITEMS = {
    "a": ("Switzerland", "Bern"),
    "b": ("India", "New Delhi"),
}  # countries, their capitals
MOST_TOKENS = 12
STOPS = (",", ".")  # where the answer ends that is shown


class Continued(NamedTuple):
    """What the model wrote after the beginning of a test, and what is known of it.

    share: the probability of its first token.
    """

    country: str
    capital: str
    beginning: str
    written: str
    share: float

    @property
    def is_wrong(self) -> bool:
        """Whether what it wrote is not the capital."""
        return not self.written.strip().startswith(self.capital)

    @property
    def was_read(self) -> bool:
        """Whether its training texts can name the country."""
        return self.country in CAPITALS


def test_of(when: str, *, swapped: bool) -> str:
    """Return which test is taken before or after the course."""
    return TESTS[(when == AFTER) != swapped]


@kit.cached(4)
def questions(test: str) -> tuple[kit.Question, ...]:
    texts = {
        "pieces": words.pieces,
        "direction": words.direction,
        "weights": words.weights,
        "copied": words.copied,
        "tries": words.tries,
        "pairs": words.pairs,
        "calibrated": words.calibrated,
        "stop": words.stop,
        "temperature": words.temperature,
        "adapter": words.adapter,
    }
    found = []
    for name, values in items(test):
        more = dict(values)
        if name == "temperature":
            more["inverse"] = 1 / values["temperature"]
        found.append(kit.Question.of(texts[name], **more))
    return tuple(found)


@kit.cached(4)
def continued(bundled: engine.Bundled, test: str) -> Continued:
    """Return what the model writes after the beginning of a test, at temperature 0."""
    from llmviz.sampling.generation import generate

    country, capital = ITEMS[test]
    beginning = words.beginning.format(country=country)
    tokenizer = bundled.tokenizer
    ids: list[int] = []
    text, share = "", 0.0
    start = tokenizer.encode_from_start(beginning)
    for token in generate(bundled.model, start, MOST_TOKENS, temperature=0):
        if token.id in tokenizer.ends:
            break
        share = share or token.probability
        ids.append(token.id)
        text = tokenizer.decode_behind(start, ids)
        if any(stop in text for stop in STOPS):
            break
    return Continued(country, capital, beginning, text, share)


def why(about: Continued) -> str:
    """Return the question in own words."""
    return words.why[about.is_wrong].format(capital=about.capital)


def asks_of_class(when: str, test: str) -> list[Ask]:
    """Return the ten questions as a class is asked them; last, the one in own words."""
    title = words.title_of[when]
    asks = [
        Ask(
            words.of_class.format(
                title=title, test=test.upper(), number=number, text=unmarked(question.text)
            ),
            [unmarked(answer) for answer in question.answers],
            question.right,
        )
        for number, question in enumerate(questions(test), 1)
    ]
    text = words.open_of_class.format(title=title, test=test.upper(), text=ITEMS[test][0])
    return [*asks, Ask(text)]


@kit.cached(2)
def all_asks() -> dict[tuple[str, str], list[Ask]]:
    """Return what a class can be asked: by when, and by test."""
    return {(when, test): asks_of_class(when, test) for when in (BEFORE, AFTER) for test in TESTS}
