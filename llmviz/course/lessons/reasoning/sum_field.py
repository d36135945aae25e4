"""A field for a sum of two numbers of two digits, which several chapters ask a model."""

import re

from llmviz.course.lessons.reasoning.sum_texts import LEAST, Sum


def sum_of(text: str) -> Sum | None:
    """Return the numbers of a sum as it is typed; None where it is none of two digits each.

    >>> sum_of(" 47 + 85"), sum_of("9+10")
    ((47, 85), None)
    """
    found = re.fullmatch(r"\s*(\d\d)\s*\+\s*(\d\d)\s*=?\s*", text, re.ASCII)
    if not found:
        return None
    numbers = int(found[1]), int(found[2])
    return numbers if min(numbers) >= LEAST else None
