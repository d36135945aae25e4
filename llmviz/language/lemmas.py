"""Lemmas: the form of a word that a dictionary lists, by a dictionary, by rules, by its role.

The dictionary is that of the library simplemma (Barbaresi 2021), which is inside the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from llmviz.files.text import check_text

if TYPE_CHECKING:
    from simplemma import Lemmatizer

WORDS_KEPT = 4096  # of all visitors, whose lemma need not be looked up again

# Words with two lemmas: which one is right is decided by the part of speech.
AMBIGUOUS: dict[str, dict[str, str]] = {
    "saw": {"NOUN": "saw", "VERB": "see"},
    "leaves": {"NOUN": "leaf", "VERB": "leave"},
    "felt": {"NOUN": "felt", "VERB": "feel"},
    "left": {"ADJ": "left", "VERB": "leave"},
    "rose": {"NOUN": "rose", "VERB": "rise"},
    "dove": {"NOUN": "dove", "VERB": "dive"},
    "bore": {"NOUN": "bore", "VERB": "bear"},
    "ground": {"NOUN": "ground", "VERB": "grind"},
    "wound": {"NOUN": "wound", "VERB": "wind"},
    "thought": {"NOUN": "thought", "VERB": "think"},
    "meeting": {"NOUN": "meeting", "VERB": "meet"},
    "painting": {"NOUN": "painting", "VERB": "paint"},
    "building": {"NOUN": "building", "VERB": "build"},
    "lives": {"NOUN": "life", "VERB": "live"},
}

# Forms of two verbs: the verb that is not taken. A tag that says "verb" cannot tell them apart.
TWO_VERBS: dict[str, str] = {
    "bore": "bore",
    "bound": "bind",
    "fell": "fell",
    "felt": "felt",
    "found": "found",
    "ground": "ground",
    "lay": "lay",
    "leaves": "leaf",
    "saw": "saw",
    "wound": "wound",
}

# (part of speech, ending, what comes in its place); the first that fits is taken.
RULES: tuple[tuple[str, str, str], ...] = (
    ("NOUN", "sses", "ss"),
    ("NOUN", "shes", "sh"),
    ("NOUN", "ches", "ch"),
    ("NOUN", "xes", "x"),
    ("NOUN", "ies", "y"),
    ("NOUN", "ss", "ss"),
    ("NOUN", "s", ""),
    ("VERB", "ied", "y"),
    ("VERB", "ies", "y"),
    ("VERB", "ing", ""),
    ("VERB", "ed", ""),
    ("VERB", "s", ""),
    ("ADJ", "iest", "y"),
    ("ADJ", "ier", "y"),
    ("ADJ", "est", ""),
    ("ADJ", "er", ""),
)


@dataclass(frozen=True)
class Lemma:
    """A word's lemma by each of three ways; `lemma` is the one to take, `why` says which way."""

    word: str
    tag: str | None
    dictionary: str  # of the word alone
    by_rule: str  # of the word with its tag; the word itself where no rule fits
    rule: str  # such as "ies → y", or ""
    lemma: str
    why: str  # "tag", "dictionary" or "as it is"

    @property
    def other(self) -> str:
        """The lemma of a second verb with this form, which the tag cannot tell apart; or ""."""
        return TWO_VERBS.get(self.word.lower(), "") if self.tag == "VERB" else ""


def lemma(word: str, tag: str | None = None) -> Lemma:
    """Return the lemma of a word, and how it was found.

    tag: its part of speech in the sentence, as in `llmviz.corpus.roles.TAGS`. Names stay as they
    are. Raises ValueError for a text that is no word: empty, or with white space in it.
    """
    if not check_text(word) or word.split() != [word]:
        raise ValueError(f"a word must have no white space and not be empty; got {word!r}")
    small = word.lower()
    from_dictionary = _lemmatizer().lemmatize(small, lang="en")
    ending, by_rule = _by_rule(small, tag)
    if tag == "PROPN":
        return Lemma(word, tag, from_dictionary, by_rule, ending, word, "as it is")
    forms = AMBIGUOUS.get(small, {})
    if tag in forms:
        return Lemma(word, tag, from_dictionary, by_rule, ending, forms[tag], "tag")
    why = "dictionary" if from_dictionary != small else "as it is"
    return Lemma(word, tag, from_dictionary, by_rule, ending, from_dictionary, why)


@cache
def _lemmatizer() -> Lemmatizer:
    """The library's, with room for fewer of the visitors' words than its own has."""
    from simplemma import Lemmatizer

    return Lemmatizer(cache_max_size=WORDS_KEPT)


def _by_rule(word: str, tag: str | None) -> tuple[str, str]:
    """The rule that fits and the form it gives."""
    for wanted, ending, instead in RULES:
        if wanted == tag and word.endswith(ending) and len(word) > len(ending) + 1:
            return f"{ending} → {instead or '∅'}", word.removesuffix(ending) + instead
    return "", word
