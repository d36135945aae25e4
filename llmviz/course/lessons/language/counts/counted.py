"""A text counted: its words, their runs, Zipf's line, and the weights of its sentences' words."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import regex

from llmviz.corpus import load_corpus
from llmviz.corpus.roles import split_words
from llmviz.course.lessons.language.word_roles import cut_sentences
from llmviz.course.ui import kit
from llmviz.language.counts import TfIdf, ZipfLine, ngrams, tf_idf, zipf

MOST_N = 5
WEIGHED = 12  # sentences whose words are weighed
_NO_SPACES = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{2}"
)


@dataclass(frozen=True)
class Counted:
    """The words of a text in order, and by sentence; fold: whether capitals became small."""

    words: tuple[str, ...]
    sentences: tuple[tuple[str, ...], ...]  # those that hold a word
    fold: bool
    grams: tuple[Counter[tuple[str, ...]], ...]  # of 1 to MOST_N words
    alone: tuple[int, ...]  # how many different ones of each length stand once in the text

    def once(self, n: int) -> int:
        """How many different n-grams stand once in the text."""
        return self.alone[n - 1]

    def most(self, n: int, few: int, *, alphabet: bool = True) -> list[tuple[tuple[str, ...], int]]:
        """The most frequent n-grams; of equally frequent ones the first in the alphabet, or the
        first in the text.
        """
        if not alphabet:
            return self.grams[n - 1].most_common(few)
        return sorted(self.grams[n - 1].items(), key=lambda pair: (-pair[1], pair[0]))[:few]

    @cached_property
    def first(self) -> tuple[str, int]:
        """The most frequent word and its count."""
        ((word,), times) = self.most(1, 1)[0]
        return word, times

    @cached_property
    def unspaced(self) -> str:
        """The first word in a script that puts no spaces between words; "" where there is none."""
        return next((word for word in self.words if _NO_SPACES.search(word)), "")

    @cached_property
    def zipf(self) -> ZipfLine | None:
        """The words by rank; None where all are the same."""
        return zipf(self.words) if len(self.grams[0]) > 1 else None

    @cached_property
    def weights(self) -> TfIdf:
        """The weights of the words of the first sentences among these."""
        return tf_idf(self.sentences[:WEIGHED])


def is_word(text: str) -> bool:
    """Whether a piece of a text is a word and no punctuation mark: it holds a letter or digit."""
    return any(sign.isalnum() for sign in text)


def count_text(text: str, fold: bool) -> Counted:
    """Count a text; a run of words may cross the end of a sentence."""
    pieces = [piece.lower() if fold else piece for piece, _ in split_words(text)]
    sentences = [
        tuple(pieces[i] for i in part if is_word(pieces[i])) for part in cut_sentences(pieces)
    ]
    words = tuple(piece for piece in pieces if is_word(piece))
    grams = tuple(ngrams(words, n) for n in range(1, MOST_N + 1))
    alone = tuple(sum(times == 1 for times in counts.values()) for counts in grams)
    return Counted(words, tuple(filter(None, sentences)), fold, grams, alone)


of_text = kit.cached(32)(count_text)


@kit.cached(8)
def bundled(name: str, fold: bool) -> Counted:
    """Return a bundled text counted, about a second for the largest."""
    return count_text(load_corpus(name).text, fold=fold)
