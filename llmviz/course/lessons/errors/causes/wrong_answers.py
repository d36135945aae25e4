"""Wrong answers of bundled models, each with its cause and with what proves it.

Every case is taken from what small models answered, remembered or said: `read_facts`,
`read_planted`, `read_leaning`, `tested_in_training` and `answering_heads`. Nothing is written by
hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from llmviz.corpus.invented import namesakes
from llmviz.corpus.leaning import LEANS, PRONOUNS
from llmviz.course.lessons.errors import read_facts, read_leaning, read_planted, tested_in_training
from llmviz.course.lessons.errors.causes import answering_heads

NEVER, RARE, DECLINES, HEART = "never", "rare", "declines", "heart"
GREEDY, DICE, UNSAID, TESTED = "greedy", "dice", "unsaid", "tested"
SPELLED, WORDED = answering_heads.SPELLED, answering_heads.WORDED
CAUSES = (NEVER, RARE, DECLINES, HEART, GREEDY, DICE, UNSAID, TESTED, SPELLED, WORDED)
TEN = len(CAUSES)  # cases of a file, each wrong for another reason
FEW, OFTEN = 5, 100  # times that a text says a fact, and a sentence that is known by heart
SURE = 0.2  # a pronoun whose share is this far from one half is the more probable one
OFFERED = 3  # other causes that are offered beside the right one


@dataclass(frozen=True)
class Case:
    """A wrong answer: its cause, one of CAUSES, and the values that its texts name.

    source: which of the bundled models gave it: its seed, and what else its text was made from.
    """

    cause: str
    values: tuple[tuple[str, object], ...]
    source: tuple[float, ...] = ()

    @property
    def named(self) -> dict[str, Any]:
        return dict(self.values)


def _case(cause: str, source: tuple[float, ...], **values: object) -> Case:
    return Case(cause, tuple(values.items()), source)


def _facts() -> Iterator[Case]:
    """Towns that were never read, or rarely; and facts that a careful model declines."""
    careful = read_facts.UNKNOWN[-1]
    for seed in read_facts.SEEDS:
        register = read_facts.world_of(read_facts.Reading(seed))
        plain = read_facts.answers_of(register, read_facts.bundled(0, seed))
        declining = read_facts.answers_of(register, read_facts.bundled(careful, seed))
        for answer, other in zip(plain, declining, strict=True):
            person = answer.person
            about = {
                "name": person.name,
                "town": person.town,
                "said": answer.said,
                "confidence": answer.confidence,
                "times": person.times,
                "shared": answer.said in namesakes(register, person),
            }
            if not answer.is_right and not answer.declined and person.times in (0, 1, 2):
                yield _case(RARE if person.times else NEVER, (seed, 0), **about)
            if answer.is_right and other.declined and person.times == FEW:
                about |= {"confidence": other.confidence, "unknown": careful}
                yield _case(DECLINES, (seed, careful), **about)


def _by_heart() -> Iterator[Case]:
    for seed in read_planted.SEEDS:
        for passes in read_planted.PASSES:
            model = read_planted.bundled(seed, passes)
            for at, sentence in enumerate(model.planted):
                if sentence.times >= OFTEN and sentence.needed <= 1:
                    yield _case(
                        HEART,
                        (seed, at),
                        given=sentence.tokens[0],
                        written=" ".join(sentence.written[0]),
                        times=sentence.times,
                        loss=sentence.loss,
                        unread=model.unread,
                    )


def _pronouns() -> Iterator[Case]:
    """Pronouns that are always written, that the dice chose, or that the text never said."""
    for lean in LEANS[1:]:
        for seed in read_leaning.SEEDS:
            for job in read_leaning.bundled(lean, seed).jobs:
                more = job.probability > 0.5
                clear = abs(job.probability - 0.5) >= SURE
                agrees = (job.planted > 0.5) == more
                about = {
                    "job": job.name,
                    "women": job.planted,
                    "share": job.probability,
                    "said": PRONOUNS[0 if more else 1],
                    "other": PRONOUNS[1 if more else 0],
                }
                if job.direct and clear and agrees:
                    yield _case(GREEDY, (seed, lean), **about)
                    yield _case(DICE, (seed, lean), **about)
                elif not job.direct and clear and not agrees:
                    yield _case(UNSAID, (seed, lean), **about)


def _tests() -> Iterator[Case]:
    for copies, scores in tested_in_training.bundled().items():
        for seed, score in enumerate(scores):
            clean = tested_in_training.bundled()[0][seed]
            if copies and score.read - score.other > 0.3:
                yield _case(
                    TESTED,
                    (seed, copies),
                    read=score.read,
                    other=score.other,
                    clean=clean.read,
                    copies=copies,
                    questions=score.questions,
                )


def _heads() -> Iterator[Case]:
    """Places in other tokens than the tokenizer's, and questions that are put otherwise."""
    for at, case in enumerate(answering_heads.recorded()):
        values = {name: getattr(case, name) for name in ("about", "right", "said", "confidence")}
        yield _case(case.kind, (at,), **values, ending=case.endings[1])


_SOURCES: tuple[Callable[[], Iterator[Case]], ...] = (
    _facts,
    _by_heart,
    _pronouns,
    _tests,
    _heads,
)


@cache
def cases() -> dict[str, tuple[Case, ...]]:
    """Return every case by its cause. Raises ValueError where what they are taken from is missing.

    Every cause has some: a test holds it.
    """
    every = [case for source in _SOURCES for case in source()]
    return {cause: tuple(case for case in every if case.cause == cause) for cause in CAUSES}


def ten_cases(seed: int) -> list[Case]:
    """Return ten cases, one of each cause, in an order of their own."""
    chance = random.Random(seed)
    drawn = [chance.choice(those) for those in cases().values()]
    chance.shuffle(drawn)
    return drawn


def offered(case: Case, seed: int) -> list[str]:
    """Return the causes to choose from: the right one among others, in an order of their own."""
    chance = random.Random(f"{seed}.{case.values}")
    causes = [
        case.cause,
        *chance.sample([cause for cause in CAUSES if cause != case.cause], OFFERED),
    ]
    return sorted(causes, key=CAUSES.index)
