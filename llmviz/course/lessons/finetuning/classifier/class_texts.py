"""Labelled texts for a classifier: stories or a sentence of each, or what the learner wrote."""

from __future__ import annotations

import re

from llmviz.finetuning.labels import Labelled, stories

TESTED = 200  # stories that are not trained on
MOST_EXAMPLES = 3000
READS = ("first", "last", "whole")
"""What of a story is read: its first sentence, its last one, or all of it."""

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(])")


def part_of(story: str, reads: str) -> str:
    """Return a story's first or last sentence, or all of it.

    Raises ValueError for anything else than READS.

    >>> part_of("Anna met Samir. They ate. The end came.", "first")
    'Anna met Samir.'
    """
    if reads not in READS:
        raise ValueError(f"reads must be one of {', '.join(READS)}; got {reads!r}")
    if reads == "whole":
        return story
    return _END.split(story)[0 if reads == "first" else -1]


def labelled_stories(task: str, reads: str, count: int, seed: int = 0) -> Labelled:
    """Return `count` stories of the grammar, or a sentence of each, with labels of whole stories.

    Raises ValueError for an unknown task or reading, or too few stories for two of each class.
    """
    whole = stories(task, count, seed)
    return Labelled(tuple(part_of(text, reads) for text in whole.texts), whole.labels, whole.names)


def parts(
    task: str, reads: str, examples: int, own: Labelled | None = None, seed: int = 0
) -> tuple[Labelled, Labelled]:
    """Return texts to train on and texts to test on; no story, and no line, is in both.

    own: the learner's texts, of which a fifth is for the test; `task` and `reads` are then of no
    account, and `examples` is the most that are trained on.
    """
    if own is None:
        some = labelled_stories(task, reads, examples + TESTED)
        return some.split(TESTED / len(some.texts), seed)
    train, test = own.split(0.2, seed)
    return (train.first(examples, seed) if examples < len(train.texts) else train), test
