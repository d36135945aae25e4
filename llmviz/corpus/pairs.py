"""Sentence pairs for a translation model, each with its known word alignment."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from llmviz.corpus import language
from llmviz.corpus.documents import Corpus
from llmviz.corpus.words import article

PAIR_COUNT = 20_000


@dataclass(frozen=True)
class PairCorpus(Corpus):
    """Sentences with translations; iterating gives (source, target).

    A document is "source<tab>target"; `pairs` holds the alignments too.
    """

    pairs: list[language.Translation] = field(default_factory=list, repr=False)

    def __iter__(self) -> Iterator[tuple[str, str]]:  # type: ignore[override]  # not texts but pairs
        return ((pair.source, pair.target) for pair in self.pairs)

    @classmethod
    def of(cls, name: str, pairs: list[language.Translation]) -> "PairCorpus":
        """Return the corpus of the given sentences."""
        return cls(name, [f"{pair.source}\t{pair.target}" for pair in pairs], "\n", pairs)

    def split(self, fraction: float = 0.1, seed: int = 0) -> "tuple[PairCorpus, PairCorpus]":
        """Return (training, validation); no sentence is in both."""
        known = dict(zip(self.documents, self.pairs, strict=True))
        train, held_out = super().split(fraction, seed)

        def pairs_of(part: Corpus) -> PairCorpus:
            return PairCorpus.of(part.name, [known[document] for document in part.documents])

        return pairs_of(train), pairs_of(held_out)


def generate_pairs(count: int, seed: int = 0) -> Iterator[language.Translation]:
    """Yield `count` different sentences of 4 to 10 English words with their translations.

    Raises ValueError for a negative count.
    """
    if count < 0:
        raise ValueError(f"the number of pairs cannot be negative; got {count}")
    chance = random.Random(seed)
    seen: set[str] = set()
    while len(seen) < count:
        source = _sentence(chance)
        if source not in seen and 4 <= len(source.split()) <= 10:
            seen.add(source)
            yield language.translate(source)


def load_pairs(count: int = PAIR_COUNT, seed: int = 0) -> PairCorpus:
    """Return a corpus of sentence pairs, made from the seed."""
    return PairCorpus.of("pairs", list(generate_pairs(count, seed)))


def _sentence(chance: random.Random) -> str:
    words = [chance.choice(language.ADVERBS)] if chance.random() < 0.3 else []
    subject, many = _noun_phrase(chance, language.CREATURES, names=True)
    transitive = chance.random() < 0.6
    singular, base, past = chance.choice(
        language.TRANSITIVE if transitive else language.INTRANSITIVE
    ).split(":")
    words += [*subject, past if chance.random() < 0.5 else base if many else singular]
    if transitive:
        animate = chance.random() < 0.5
        words += _noun_phrase(
            chance, language.CREATURES if animate else language.OBJECTS, names=animate
        )[0]
    if chance.random() < (0.3 if transitive else 0.7):
        words += [
            chance.choice(language.PREPOSITIONS),
            *_noun_phrase(chance, language.PLACES, names=False)[0],
        ]
    return " ".join(words)


def _noun_phrase(chance: random.Random, nouns: list[str], names: bool) -> tuple[list[str], bool]:
    """Return the words of a noun phrase, and whether it is more than one."""
    if names and chance.random() < 0.2:
        return [chance.choice(language.NAMES)], False
    words = [chance.choice(language.ADJECTIVES)] if chance.random() < 0.4 else []
    many = chance.random() < 0.4
    noun = chance.choice(nouns)
    words.append(language.many_of(noun) if many else noun)
    if many:
        return [chance.choice(("the", "the", "the", *language.NUMBERS)), *words], True
    return [chance.choice(("the", article(words[0]))), *words], False
