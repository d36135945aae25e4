"""The graded questions of the chapter on one step, made from the step's numbers."""

from llmviz.course.lessons.training.step import words
from llmviz.course.ui import kit

NEAR = 0.05  # a length that close to the limit, as a share, leaves the answers alike
SHORT = 0.01  # a shorter gradient has hardly a digit left


def clipping(norm: float, clip: float) -> kit.Question | None:
    """Ask what clipping multiplies a gradient by.

    norm: length of the gradient; clip: the longest that is left as it is, 0 for no limit. None
    without a limit, for a gradient that is very short, and for one that is as long as the limit.
    """
    if not clip or norm < SHORT or abs(norm - clip) <= NEAR * max(norm, clip):
        return None
    numbers = {"norm": norm, "clip": clip, "down": clip / norm, "up": norm / clip}
    answers = [
        text.format(**numbers)
        for text in (words.ask_clip_down, words.ask_clip_not, words.ask_clip_up)
    ]
    long = norm > clip
    reasons = [
        words.ask_clip_reasons[key]
        for key in (
            ("down, right", "not, wrong", "up, long")
            if long
            else ("down, wrong", "not, right", "up, short")
        )
    ]
    return kit.Question(words.ask_clip.format(**numbers), answers, 0 if long else 1, reasons)


def twice(norm: float) -> kit.Question | None:
    """Ask for the gradient after a second `backward`; None where it is too short to tell."""
    if norm < SHORT:
        return None
    numbers = {"norm": norm, "twice": 2 * norm}
    return kit.Question.of(words.ask_zero, 1, **numbers)
