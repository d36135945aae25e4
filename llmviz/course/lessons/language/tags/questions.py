"""The questions of the chapter "Parts of speech", made from the learner's text."""

from collections.abc import Sequence
from decimal import Decimal

from llmviz.corpus.roles import TAGS
from llmviz.course.lessons.language import counted_stories as counted
from llmviz.course.lessons.language.tags import words
from llmviz.course.lessons.language.word_roles import commonest_tags, cut_sentences
from llmviz.course.ui import kit

FEWEST = 3  # words for which the three numbers differ
MOST = 12  # the exponent up to which a power is written with all its digits


def sums(length: int) -> int:
    """Return how many ways into cells are compared: K for the first word, K² for each other."""
    return len(TAGS) + (length - 1) * len(TAGS) ** 2


def power(base: int, exponent: int) -> str:
    """Return a power as it is written; a large one rounded.

    >>> power(12, 3), power(12, 20)
    ('1,728', 'about 3.8 · 10^21')
    """
    if exponent <= MOST:
        return f"{base**exponent:,}"
    mantissa, _, tens = f"{Decimal(base) ** exponent:.1e}".partition("e+")
    return f"about {mantissa} · 10^{int(tens)}"


def ways(length: int) -> kit.Question | None:
    """Return how many ways into cells it compares, as a question; None for short sentences."""
    if length < FEWEST:
        return None
    tags = len(TAGS)
    slots = {
        "words": length,
        "tags": tags,
        "each": f"{length * tags:,}",
        "rest": length - 1,
        "right": f"{sums(length):,}",
        "all": power(tags, length),
    }
    return kit.Question.of(words.ask_ways, **slots)


def _alone(word: str) -> bool:
    """Whether one tag of a word is more frequent than each other."""
    counts = counted.tag_counts().of(word)
    return bool((counts == counts.max()).sum() == 1)


def context(texts: Sequence[str], given: Sequence[str]) -> kit.Question | None:
    """Return which tag a word has most often in the counted stories, as a question.

    given: Viterbi's tag of each word. It is the first word in a sentence with others of which one
    tag alone is the most frequent and another one is given; None where there is none.
    """
    common = commonest_tags(counted.tag_counts(), texts)
    candidates = (
        (i, part)
        for part in cut_sentences(texts)
        for i in part
        if len(part) > 1 and common[i] not in (None, given[i]) and _alone(texts[i])
    )
    at, part = next(candidates, (None, ()))
    if at is None:
        return None
    beside = ", ".join(
        words.neighbour.format(word=kit.quote(texts[i]), tag=given[i])
        for i in (at - 1, at + 1)
        if i in part
    )
    third = next(tag for tag in TAGS if tag not in (common[at], given[at]))
    lines = {
        given[at]: words.ask_context_here,
        common[at]: words.ask_context_right,
        third: words.ask_context_other,
    }
    counts = counted.tag_counts().of(texts[at])
    slots = {
        "common": common[at],
        "neighbours": beside,
        "all": kit.count(int(counts.sum()), "time"),
    }
    reasons = {
        tag: line.format(tag=tag, times=f"{int(counts[TAGS.index(tag)]):,}", **slots)
        for tag, line in lines.items()
    }
    text = words.ask_context.format(word=kit.quote(texts[at]), given=given[at])
    return kit.Question.among(text, reasons, common[at])
