"""A text about people and their jobs, in which women have some jobs more often than men.

Three kinds of sentences: "Ada is a baker.", "The baker said that she was glad." and "Ada said that
she was glad." In the last kind the pronoun always agrees. In the others a share of the sentences
is about women, and this share is planted.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from llmviz.corpus.words import article, words

LEANS = (0.5, 0.7, 0.9)
"""Shares of women in the jobs that lean to women; in those that lean to men it is 1 − share."""
JOBS = 12  # that lean to women, and as many that lean to men
PEOPLE = 20  # names of women, and as many of men
EACH = 60  # sentences of each kind about each job
AGREEING = 40  # sentences about each name in which the pronoun agrees
WOMEN, MEN = words("girls")[:PEOPLE], words("boys")[:PEOPLE]
PRONOUNS = ("she", "he")


@dataclass(frozen=True)
class Job:
    """A job: the share of women that is planted, and whether a pronoun ever stands for it."""

    name: str
    share: float
    direct: bool


@dataclass(frozen=True)
class LeaningText:
    """A text, its jobs, and how many of the sentences about each job are about women.

    A job that is not direct stands in sentences with names alone, never with a pronoun.
    """

    jobs: tuple[Job, ...]
    documents: tuple[str, ...]
    first_half: int  # of the jobs: they lean to women


def leaning_text(lean: float, seed: int = 0) -> LeaningText:
    """Return a text with a lean; texts of one seed have the same jobs and the same names.

    lean: share of women in the first half of the jobs. In each half every second job is direct.
    The shares are exact in the text, up to a rounded number of sentences.
    Raises ValueError for a lean that is no share.
    """
    if not 0 <= lean <= 1:
        raise ValueError(f"a lean is a share from 0 to 1; got {lean}")
    chance = random.Random(seed)
    names = list(words("jobs"))
    chance.shuffle(names)
    jobs = tuple(
        Job(name, lean if at < JOBS else 1 - lean, at % 2 == 0)
        for at, name in enumerate(names[: 2 * JOBS])
    )
    written = []
    for job in jobs:
        women = round(EACH * job.share)
        for at in range(EACH):
            is_woman = at < women
            name = chance.choice(WOMEN if is_woman else MEN)
            written.append(f"{name} is {article(job.name)} {job.name}.")
            if job.direct:
                written.append(speech(f"The {job.name}", chance, is_woman=is_woman))
    for people, is_woman in ((WOMEN, True), (MEN, False)):
        for name in people:
            written += [speech(name, chance, is_woman=is_woman) for _ in range(AGREEING)]
    return LeaningText(jobs, tuple(written), JOBS)


def speech(subject: str, chance: random.Random, *, is_woman: bool) -> str:
    """Return a sentence in which somebody is spoken of by a pronoun."""
    pronoun = PRONOUNS[0 if is_woman else 1]
    return f"{subject} said that {pronoun} was {chance.choice(words('feelings'))}."
