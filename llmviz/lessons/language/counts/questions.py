"""The questions of the chapter "Counts", made from the text's own numbers."""

from __future__ import annotations

from llmviz.lessons.language.counts import words
from llmviz.lessons.language.counts.counted import Counted
from llmviz.ui.common import percent
from llmviz.ui.prose import quote
from llmviz.ui.question import Question
from llmviz.ui.text import escape_markdown

ANSWERS = 4


def once(text_counts: Counted, n: int) -> Question:
    """Return how many of the different n-grams were seen only once, as a question.

    n: of runs that the text has.
    """
    different, alone = len(text_counts.grams[n - 1]), text_counts.once(n)
    right = 0 if 3 * alone < different else 1 if 3 * alone <= 2 * different else 2
    told = {"once": alone, "different": different, "share": percent(alone / different)}
    reason = words.ask_once_reason.format(**told)
    return Question(
        words.ask_once.format(n=n), words.ask_once_answers, right, [reason] * 3, scale=True
    )


def heaviest(text_counts: Counted, most: int) -> tuple[Question, int] | None:
    """Return which word of a sentence has the largest weight, as a question, and the sentence.

    It is the first of the first `most` whose heaviest word is one alone, also as its weight is
    written; None where there is none.
    """
    weighed = text_counts.weights
    for row, weights in enumerate(weighed.weights[:most]):
        inside = [v for v in range(len(weights)) if weighed.tf[row, v]]
        order = sorted(inside, key=lambda v: -weights[v])[:ANSWERS]
        if len(order) < 2 or written(weights[order[0]]) == written(weights[order[1]]):
            continue
        columns = sorted(order)
        names = [escape_markdown(shortened(weighed.words[v])) for v in columns]
        if len(set(names)) < len(names):
            continue
        reasons = [
            (words.ask_weight_right if v == order[0] else words.ask_weight_wrong).format(
                weight=written(weights[v]),
                tf=int(weighed.tf[row, v]),
                df=int(weighed.df[v]),
                all=len(weighed.tf),
            )
            for v in columns
        ]
        sentence = " ".join(text_counts.sentences[row])
        asked = Question(
            words.ask_weight.format(number=row + 1, sentence=quote(sentence, 80)),
            names,
            columns.index(order[0]),
            reasons,
        )
        return asked, row
    return None


def written(weight: float) -> str:
    """Return a weight as sentences write it."""
    return f"{weight:.4f}"


def shortened(word: str, most: int = 24) -> str:
    """Return a word, or its beginning where it is longer than an answer or a label should be."""
    return word if len(word) <= most else f"{word[: most - 1]}…"
