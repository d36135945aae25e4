"""tiny-world: short stories from a grammar of our own, each with its exact probability.

A story is an opening that introduces two or three people, a few events, and a closing sentence.
Most choices are uniform over a category of `words`; the rest of the text follows from rules that
a reader can only keep by looking back (REGULARITIES). See `writer` for why a text has exactly one
derivation; `parse` recovers it from the text alone.

The text of a document and the fact that it ends are both modelled: a document ends after its
closing sentence with certainty, so the end costs nothing, but it counts as one token.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from llmviz.corpus.story_productions import tell
from llmviz.corpus.writer import Fact, NotTinyWorldError, Reader, Sampler, Writer

REGULARITIES = {
    "possession": "who has the thing, asked several sentences after it changed hands",
    "places": "where somebody is, asked several sentences after they went there",
    "pronouns": "he and she, his and her agree with the person",
    "names": "a first name is followed by the surname it came with (copying)",
    "attributes": "a thing keeps its colour and its size",
    "sounds": "each animal makes its own sound",
    "capitals": "each country has its capital",
    "pairs": "a king comes with a queen, an uncle with an aunt",
    "opposites": "not hot means cold",
    "sums": "three and four more make seven",
    "days": "Tuesday follows Monday",
    "agreement": "the dogs were, the dog was, whatever stands between",
    "quotes": "a quotation that was opened is closed",
    "brackets": "a bracket that was opened is closed",
}
"""Name of each regularity and what it says; each can be switched off and has a probe set."""


@dataclass(frozen=True)
class WorldOptions:
    """Which regularities hold; where one is off, chance decides instead.

    Raises ValueError for a name that is not in REGULARITIES.
    """

    off: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "off", frozenset(self.off))
        unknown = sorted(self.off - REGULARITIES.keys())
        if unknown:
            raise ValueError(f"no regularity {unknown[0]!r}; there are {', '.join(REGULARITIES)}")


@dataclass(frozen=True, slots=True)
class Document:
    """A story, its natural log-probability, and where in it a regularity decides.

    choices: (character at which a choice begins, log-probability of what was chosen); they add up
    to log_prob.
    """

    text: str
    log_prob: float
    facts: tuple[Fact, ...] = ()
    choices: tuple[tuple[int, float], ...] = ()


def generate(
    count: int | None = None,
    seed: int = 0,
    options: WorldOptions | None = None,
    *,
    characters: int | None = None,
) -> Iterator[Document]:
    """Yield stories: `count` of them, or as many as it takes to reach `characters`.

    The same seed and options give the same stories; a longer run begins with the shorter one.
    Raises ValueError if neither or both sizes are given, or one is negative.
    """
    limit = characters if count is None else count
    if limit is None or None not in (count, characters):
        raise ValueError("give either a count of documents or a number of characters")
    if limit < 0:
        raise ValueError(f"the size of a corpus cannot be negative; got {limit}")
    return _generate(limit, count is None, seed, options or WorldOptions())


def _generate(
    limit: int, of_characters: bool, seed: int, options: WorldOptions
) -> Iterator[Document]:
    chance = random.Random(seed)
    documents = written = 0
    while (written if of_characters else documents) < limit:
        writer = Sampler(switched_off=options.off, chance=chance)
        tell(writer)
        document = _document(writer, writer.text)
        documents, written = documents + 1, written + len(document.text)
        yield document


def parse(text: str, options: WorldOptions | None = None) -> Document:
    """Recover the derivation of a story from its text alone, and with it the log-probability.

    Raises NotTinyWorldError, saying at which character, for a text that the grammar cannot write.
    """
    reader = Reader(switched_off=(options or WorldOptions()).off, text=text)
    tell(reader)
    reader.finish()
    return _document(reader, text)


def is_story(text: str, options: WorldOptions | None = None) -> bool:
    """Say whether the grammar can have written the text, every regularity kept."""
    try:
        parse(text, options)
    except NotTinyWorldError:
        return False
    return True


def _document(writer: Writer, text: str) -> Document:
    return Document(text, writer.log_prob, tuple(writer.facts), tuple(writer.choices))
