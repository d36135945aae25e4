"""How far both halves of the jobs are apart, and what becomes of a planted difference."""

from llmviz.corpus.leaning import JOBS
from llmviz.course.lessons.errors.people import words
from llmviz.course.lessons.errors.read_leaning import JobRead, Measured

NEAR = 0.05  # shares that differ by less are called equal


def first_half(model: Measured, *, direct: bool) -> list[JobRead]:
    """Return the jobs of the first half that were read with pronouns, or with names alone."""
    return [job for job in model.jobs[:JOBS] if job.direct == direct]


def means(model: Measured, *, direct: bool) -> tuple[float, float]:
    """Return the mean share of "she" after the jobs of the first half, and of the second."""
    halves = (model.jobs[:JOBS], model.jobs[JOBS:])
    said = [[job.probability for job in half if job.direct == direct] for half in halves]
    first, second = (sum(those) / len(those) for those in said)
    return first, second


def mean_said(model: Measured, *, direct: bool) -> float:
    """Return the mean share of "she" after the jobs of the first half."""
    return means(model, direct=direct)[0]


def kept_word(planted: float, given: float, near: float = NEAR) -> str:
    """Return what becomes of a lean: the difference of both halves in the text and in the model.

    Differences that are nearer than `near` count as equal.
    """
    if abs(planted) < 1e-9:
        how = "even" if abs(given) < near else "made"
    elif abs(given - planted) < near:
        how = "kept"
    elif abs(given) < near:
        how = "gone"
    elif given * planted < 0:
        how = "turned"
    else:
        how = "stronger" if abs(given) > abs(planted) else "weaker"
    return words.kept_word[how]


def points(share: float) -> str:
    """Return a difference of shares in whole points."""
    return f"{round(100 * share):d}".replace("-", "−")
