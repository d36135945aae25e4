"""The questions of the chapter "Counts", made from the text's own numbers."""

from llmviz.course.lessons.language.counts import words
from llmviz.course.lessons.language.counts.counted import Counted
from llmviz.course.ui import kit

ANSWERS = 4


def once(text_counts: Counted, n: int) -> kit.Question:
    """Return how many of the different n-grams were seen only once, as a question.

    n: of runs that the text has.
    """
    different, alone = len(text_counts.grams[n - 1]), text_counts.once(n)
    right = 0 if 3 * alone < different else 1 if 3 * alone <= 2 * different else 2
    slots = {"once": alone, "different": different, "share": kit.percent(alone / different)}
    return kit.Question.rated(
        words.ask_once, words.ask_once_answers, right, words.ask_once_reason, n=n, **slots
    )


def heaviest(text_counts: Counted, most: int) -> tuple[kit.Question, int] | None:
    """Return which word of a sentence weighs most, as a question, and the sentence.

    It is the first of the first `most` whose heaviest word is one alone, also as its weight is
    written. Where no sentence has one, the question is which word weighs least; None where that
    is no word alone either.
    """
    sentences = range(min(most, len(text_counts.weights.weights)))
    candidates = (
        _one_alone(text_counts, row, kind) for kind in ("most", "least") for row in sentences
    )
    return next(filter(None, candidates), None)


def _one_alone(text_counts: Counted, row: int, kind: str) -> tuple[kit.Question, int] | None:
    """Return the question which word of a sentence weighs most, or least, if one alone does."""
    weighed, weights = text_counts.weights, text_counts.weights.weights[row]
    inside = [v for v in range(len(weights)) if weighed.tf[row, v]]
    order = sorted(inside, key=lambda v: -weights[v] if kind == "most" else weights[v])
    if len(order) < 2 or written(weights[order[0]]) == written(weights[order[1]]):
        return None
    offered = sorted({*order[: ANSWERS - 1], order[-1]})
    names = [kit.escape_markdown(shortened(weighed.words[v])) for v in offered]
    if len(set(names)) < len(names):
        return None
    reasons = []
    for v in offered:
        df, tf, documents = int(weighed.df[v]), int(weighed.tf[row, v]), len(weighed.tf)
        slots = {"weight": written(weights[v]), "tf": tf, "df": df, "all": documents}
        reason = words.ask_weight_zero if df == documents else words.ask_weight_right
        other = "" if v == order[0] else f" {words.ask_weight_wrong[kind]}"
        reasons.append(reason.format(**slots) + other)
    sentence = kit.quote(" ".join(text_counts.sentences[row]), 80)
    text = words.ask_weight if kind == "most" else words.ask_least
    line = text.format(number=row + 1, sentence=sentence)
    return kit.Question(line, names, offered.index(order[0]), reasons), row


def written(weight: float) -> str:
    """Return a weight as sentences write it."""
    return f"{weight:.4f}"


def shortened(word: str, most: int = 24) -> str:
    """Return a word, or its beginning where it is longer than an answer or a label should be."""
    return word if len(word) <= most else f"{word[: most - 1]}…"
