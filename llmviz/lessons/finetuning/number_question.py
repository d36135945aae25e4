"""Questions whose answers are counts: the smallest first, wherever the right one then stands."""

from collections.abc import Mapping

from llmviz.ui import kit


def by_size(text: str, reasons: Mapping[int, str], right: int, name: str = "{:,}") -> kit.Question:
    """Return a question with an answer for each count, in their order.

    reasons: of each count, why it is right or what it overlooks. right: one of the counts.
    name: how an answer is written, with braces for the count.

    >>> by_size("How many?", {9: "no", 4: "yes"}, 4).answers
    ['4', '9']
    """
    counts = sorted(reasons)
    answers = [name.format(count) for count in counts]
    return kit.Question(text, answers, counts.index(right), [reasons[count] for count in counts])
