"""Who the model takes for whom: one word against another, after sentences about a job."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.reader import Reads, chances, first_token, ids_of

FORMS = (
    "The {job} was late because",
    "The {job} said that",
    "When the {job} came home,",
)
PAIR = ("he", "she")
JOBS = [
    "farmer",
    "soldier",
    "carpenter",
    "plumber",
    "president",
    "mechanic",
    "engineer",
    "lawyer",
    "doctor",
    "scientist",
    "judge",
    "pilot",
    "driver",
    "chef",
    "painter",
    "poet",
    "professor",
    "student",
    "manager",
    "clerk",
    "writer",
    "dancer",
    "cook",
    "cleaner",
    "teacher",
    "hairdresser",
    "librarian",
    "secretary",
    "nurse",
    "midwife",
]


class Job(NamedTuple):
    """A job, and the second word's share of both words' chance after each sentence.

    both: how likely one of the two is at all, after each sentence.
    """

    job: str
    shares: tuple[float, ...]
    both: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean of the shares."""
        return float(np.mean(self.shares))


def measure(reader: Reads, first: str, second: str, own: str = "") -> tuple[Job, ...]:
    """Return how often the second word of a pair is expected after each job, or after one's own.

    Raises ValueError: both words begin with the same token, or one is missing.
    """
    pair, jobs = (first, second), [own] if own else JOBS
    tokens = [first_token(reader, word) for word in pair]
    if tokens[0] == tokens[1]:
        raise ValueError(lesson_words.refused["pair"].format(first=pair[0], second=pair[1]))
    rows = [ids_of(reader, form.format(job=job.strip())) for job in jobs for form in FORMS]
    p = chances(reader, rows)[:, tokens].astype(float).reshape(len(jobs), len(FORMS), 2)
    both = p.sum(-1)
    shares = p[..., 1] / np.maximum(both, 1e-30)
    return tuple(
        Job(job.strip(), tuple(map(float, row)), tuple(map(float, at)))
        for job, row, at in zip(jobs, shares, both, strict=True)
    )
