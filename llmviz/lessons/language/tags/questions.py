"""The questions of the chapter "Parts of speech", made from the learner's text."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from llmviz.corpus.roles import TAGS
from llmviz.lessons.language import counted_stories as counted
from llmviz.lessons.language.tags import words
from llmviz.study.word_roles import commonest_tags, cut_sentences
from llmviz.ui.prose import quote
from llmviz.ui.question import Question

FEWEST = 3  # words for which the three numbers differ
MOST = 12  # words up to which all ways are written as one number


def sums(length: int) -> int:
    """Return how many sums the algorithm makes for a sentence: K for the first word, then K²."""
    return len(TAGS) + (length - 1) * len(TAGS) ** 2


def ways(length: int) -> Question | None:
    """Return how many sums the algorithm needs, as a question; None for very short sentences."""
    if length < FEWEST:
        return None
    tags = len(TAGS)
    power = f"{tags**length:,}" if length <= MOST else f"{Decimal(tags) ** length:.1e}"
    told = {
        "words": length,
        "tags": tags,
        "each": f"{length * tags:,}",
        "rest": length - 1,
        "right": f"{sums(length):,}",
        "all": power,
    }
    return Question(
        words.ASK_WAYS.format(**told),
        [answer.format(**told) for answer in words.ASK_WAYS_ANSWERS],
        1,
        [reason.format(**told) for reason in words.ASK_WAYS_REASONS],
    )


def context(texts: Sequence[str], given: Sequence[str]) -> Question | None:
    """Return which tag a word would get without its neighbours, as a question.

    given: Viterbi's tag of each word. None where every counted word has its most frequent tag.
    """
    common = commonest_tags(counted.tag_counts(), texts)
    at = next((i for i, tag in enumerate(common) if tag is not None and tag != given[i]), None)
    part = next((part for part in cut_sentences(texts) if at is not None and at in part), ())
    if len(part) < 2:
        return None
    beside = ", ".join(
        words.NEIGHBOUR.format(word=quote(texts[i]), tag=given[i])
        for i in (at - 1, at + 1)
        if i in part
    )
    third = next(tag for tag in TAGS if tag not in (common[at], given[at]))
    reasons = {
        given[at]: words.ASK_CONTEXT_HERE,
        common[at]: words.ASK_CONTEXT_RIGHT,
        third: words.ASK_CONTEXT_OTHER,
    }
    answers = sorted(reasons)
    counts = counted.tag_counts().of(texts[at])
    told = {"common": common[at], "neighbours": beside, "all": f"{int(counts.sum()):,}"}
    return Question(
        words.ASK_CONTEXT.format(word=quote(texts[at]), given=given[at]),
        answers,
        answers.index(common[at]),
        [
            reasons[tag].format(tag=tag, times=f"{int(counts[TAGS.index(tag)]):,}", **told)
            for tag in answers
        ],
    )
