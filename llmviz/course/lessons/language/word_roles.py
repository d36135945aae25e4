"""The words of a text with their roles: by counted tables, and by the tagger on a language model.

T words, K tags. torch is imported where a model is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.corpus import words as vocabulary
from llmviz.corpus.roles import TAGS, roles, sentences, split_words
from llmviz.corpus.writer import NotTinyWorldError
from llmviz.files.paths import DATA
from llmviz.files.text import read_text_file

if TYPE_CHECKING:
    from llmviz.corpus.roles import RoleWord
    from llmviz.language.hmm import HMM
    from llmviz.language.tagger import Tagger
    from llmviz.models.base import LanguageModel

SENTENCE_ENDS = ".?!。？！؟।"  # of other scripts, too


class ReadWord(NamedTuple):
    """A word of a text, what the tagger says of it, and whether the model's stories have it."""

    text: str
    start: int  # character at which it begins
    tag: str
    entity: str
    known: bool


@cache
def story_words() -> frozenset[str]:
    """Return all words that stories of tiny-world have, in small letters too.

    Those of the grammar's categories, and those of the bundled million characters, among which all
    of its fixed phrases are.
    """
    texts = [read_text_file(DATA / "tiny-world.txt")]
    texts += [word for category in vocabulary.CATEGORIES for word in vocabulary.words(category)]
    own = {word for text in texts for word, _ in split_words(text)}
    return frozenset(own | {word.lower() for word in own})


def is_known(word: str) -> bool:
    """Whether stories of tiny-world have a word, or its form in small letters."""
    return word in story_words() or word.lower() in story_words()


def check_fits(tagger: Tagger, model: LanguageModel, base: str) -> None:
    """Raise ValueError where a model has not the layers, or the width, that a tagger reads."""
    from llmviz.language.tagger import layers

    there = layers(model)
    if absent := next((name for name in tagger.layers if name not in there), None):
        raise ValueError(f"the tagger reads {absent} of {base}; the model here has no such layer")
    wanted = tagger.heads["tag"][0].shape[1]
    width = model.config.n_embd * len(tagger.layers)
    if wanted != width:
        raise ValueError(
            f"the tagger reads {wanted} numbers a word out of {base}; the model here has {width}"
        )


def read_words(model: LanguageModel, tokenizer: Any, tagger: Tagger, text: str) -> list[ReadWord]:
    """Return the words of a text with part of speech and BIO tag.

    Raises ValueError for a text without a word, and where the tagger does not fit the model.
    """
    check_fits(tagger, model, "its base")
    (read,) = tagger.read(model, tokenizer, [text])
    return [
        ReadWord(word, start, tag, entity, is_known(word))
        for (word, start), (_, tag, entity) in zip(split_words(text), read, strict=True)
    ]


def cut_sentences(words: Sequence[str]) -> list[range]:
    """Return where each sentence's words are: a sentence ends after a full stop, ? or !.

    >>> cut_sentences(["Go", "!", "Why", "?", "Now"])
    [range(0, 2), range(2, 4), range(4, 5)]
    >>> cut_sentences(["去", "。", "走", "！"])
    [range(0, 2), range(2, 4)]
    """
    ends = [i + 1 for i, word in enumerate(words) if word in SENTENCE_ENDS]
    borders = [0, *ends] if ends and ends[-1] == len(words) else [0, *ends, len(words)]
    return [range(first, after) for first, after in pairwise(borders) if after > first]


def beginning(story: Sequence[RoleWord], most: int) -> list[RoleWord]:
    """Return the first whole sentences of a story, together of at most so many words.

    Its first sentence is there however long it is.
    """
    first: list[RoleWord] = []
    for sentence in sentences(list(story)):
        if first and len(first) + len(sentence) > most:
            break
        first += sentence
    return first


def story_names(text: str) -> list[str] | None:
    """Return the true BIO tags of a text's words; None where the grammar cannot have written it."""
    try:
        return [word.entity for word in roles(text)]
    except NotTinyWorldError:
        return None


class TagCounts(NamedTuple):
    """What the tables of a hidden Markov model are counted from.

    start (K,): sentences that begin with the tag. transition (K, K): how often the tag in the
    column comes after that in the row. words: of each word how often it has each tag, (K,).
    """

    start: np.ndarray
    transition: np.ndarray
    words: dict[str, np.ndarray]

    @property
    def totals(self) -> np.ndarray:
        """How many words have each tag, (K,)."""
        return sum(self.words.values(), np.zeros(len(self.start)))

    def of(self, word: str) -> np.ndarray:
        """How often a word has each tag, (K,); zeros for a word that was never seen."""
        return self.words.get(word, np.zeros(len(self.start)))


def count_tags(sentences: Sequence[Sequence[tuple[str, str]]]) -> TagCounts:
    """Count (word, tag) sentences, without smoothing."""
    number = {tag: k for k, tag in enumerate(TAGS)}
    start, transition = np.zeros(len(TAGS)), np.zeros((len(TAGS), len(TAGS)))
    words: dict[str, np.ndarray] = {}
    for sentence in sentences:
        for word, tag in sentence:
            words.setdefault(word, np.zeros(len(TAGS)))[number[tag]] += 1
        if sentence:
            start[number[sentence[0][1]]] += 1
        for (_, before), (_, after) in pairwise(sentence):
            transition[number[before], number[after]] += 1
    return TagCounts(start, transition, words)


def hmm_tags(hmm: HMM, words: Sequence[str]) -> list[str]:
    """Return the tag of each word of a text by Viterbi, sentence by sentence."""
    from llmviz.language.hmm import viterbi

    return [
        tag for part in cut_sentences(words) for tag in viterbi(hmm, [words[i] for i in part]).tags
    ]


def commonest_tags(counts: TagCounts, words: Sequence[str]) -> list[str | None]:
    """Return the tag that each word has most often, looking at no neighbour; None if never seen."""
    return [TAGS[int(counts.of(w).argmax())] if w in counts.words else None for w in words]
