"""The counted stories and the hidden Markov model of them, computed once for all visitors."""

from llmviz.corpus.roles import TAGS
from llmviz.course.lessons.language.word_roles import (
    TagCounts,
    count_tags,
    hmm_tags,
)
from llmviz.course.ui import kit
from llmviz.language.hmm import HMM, Lattice, count_hmm, viterbi
from llmviz.language.role_scores import counted_sentences


@kit.cached(1)
def sentences() -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return the counted sentences as (word, tag)."""
    return tuple(map(tuple, counted_sentences()))


@kit.cached(1)
def tag_counts() -> TagCounts:
    return count_tags(sentences())


@kit.cached(4)
def model(smoothing: str) -> HMM:
    """Return the hidden Markov model; smoothing: what is added to each count, as text."""
    return count_hmm(sentences(), TAGS, float(smoothing))


@kit.cached(256)
def lattice(smoothing: str, words: tuple[str, ...]) -> Lattice:
    """Return Viterbi's lattice of a sentence."""
    return viterbi(model(smoothing), words)


@kit.cached(128)
def tags_of(smoothing: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tag of each word of a text, sentence by sentence."""
    return tuple(hmm_tags(model(smoothing), words))


def times(word: str) -> int:
    """Return how often a word stands in the counted stories."""
    return int(tag_counts().of(word).sum())
