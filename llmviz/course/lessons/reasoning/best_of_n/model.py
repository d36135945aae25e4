"""More tries at a sum: votes, a checker, the model's own probability, and beams, by tokens spent.

`python -m experiments make more-tries` asks the bundled model again, about a minute on one core,
and writes `data/experiments/more-tries.json`.

Q sums, N samples of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from llmviz import records
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.files.paths import EXPERIMENT_FOLDER

FILE = "more-tries.json"
COMMAND = "python -m experiments make more-tries"
QUESTIONS, SAMPLES = 200, 64
COUNTS = (1, 2, 4, 8, 16, 32, 64)
VOTE, CHECKED, LIKELY, BEAM = "vote", "checked", "likely", "beam"
CHOICES = (VOTE, CHECKED, LIKELY)
ALL, CARRIED, PLAIN = "all", "carried", "plain"
PARTS = (ALL, CARRIED, PLAIN)
AT_ONCE, STEPS = "at_once", "steps"


@dataclass(frozen=True)
class Try:
    """A written text, and ln of its probability."""

    text: str
    log_p: float

    @property
    def answer(self) -> int | None:
        """The number that it answers; None where it has another form."""
        return sum_texts.answer_of(self.text)

    @property
    def tokens(self) -> int:
        """How many were written."""
        return len(self.text)


def vote(tries: Sequence[Try]) -> Try | None:
    """Return the first try with the most frequent answer; None where none has an answer.

    Of several answers that are equally frequent, the one that came first wins.

    >>> vote([Try(":1;", 0.0), Try(":2;", 0.0), Try(":2;", 0.0)]).text
    ':2;'
    """
    answers = Counter(attempt.answer for attempt in tries if attempt.answer is not None)
    if not answers:
        return None
    most = answers.most_common(1)[0][0]
    return next(attempt for attempt in tries if attempt.answer == most)


def checked(tries: Sequence[Try], numbers: sum_texts.Sum) -> Try | None:
    """Return the first try that a checker finds right; the first of all where none is right."""
    right = (attempt for attempt in tries if sum_texts.is_right(numbers, attempt.text))
    return next(right, tries[0] if tries else None)


def likely(tries: Sequence[Try]) -> Try | None:
    """Return the first of the most probable tries; None where there is none."""
    return max(tries, key=lambda attempt: attempt.log_p, default=None)


def chosen(tries: Sequence[Try], numbers: sum_texts.Sum, choice: str) -> Try | None:
    """Return the try that a way of CHOICES takes. Raises ValueError for another name."""
    ways: dict[str, Callable[[], Try | None]] = {
        VOTE: lambda: vote(tries),
        CHECKED: lambda: checked(tries, numbers),
        LIKELY: lambda: likely(tries),
    }
    if choice not in ways:
        raise ValueError(f"choice must be one of {', '.join(CHOICES)}; got {choice!r}")
    return ways[choice]()


def tries_of(
    model: Any, questions: Sequence[sum_texts.Sum], count: int, seed: int
) -> list[list[Try]]:
    """Return so many samples of each sum, (Q, N)."""
    import torch

    from llmviz.finetuning.policy import Written
    from llmviz.finetuning.rewarded import log_probabilities
    from llmviz.finetuning.rollouts import sample_groups

    prompts = [sum_texts.encode(sum_texts.question_of(numbers)) for numbers in questions]
    found = []
    groups = sample_groups(model, prompts, count, sum_texts.LONGEST, sum_texts.END, seed)
    for prompt, texts in zip(prompts, groups, strict=True):
        written = Written.of([prompt] * count, texts, sum_texts.END)
        with torch.inference_mode():
            log_p = written.chosen(log_probabilities(model, written)).sum(1).tolist()
        found.append(
            [Try(sum_texts.decode(ids), value) for ids, value in zip(texts, log_p, strict=True)]
        )
    return found


def beams_of(model: Any, numbers: sum_texts.Sum, width: int) -> list[Try]:
    """Return the texts of a beam search, the most probable one first."""
    from llmviz.serving import Engine, Request, ServingConfig

    engine = Engine(model, ServingConfig(max_batch=width, block_size=8, n_blocks=8 * width))
    prompt = tuple(sum_texts.encode(sum_texts.question_of(numbers)))
    engine.add(Request("beam", prompt, sum_texts.LONGEST, stop_ids=(sum_texts.END,), beams=width))
    found: list[Any] = []
    while engine.busy:
        step = engine.step()
        found += step.finished if step else ()
    return [
        Try(sum_texts.decode(beam.tokens), float(beam.score))
        for beam in sorted(found, key=lambda beam: beam.sample)
        if beam.score is not None
    ]


@dataclass(frozen=True)
class Point:
    """Right answers of a way with a budget: the mean over sums, its standard error, and tokens.

    count: samples of each sum, or the width of the beam. part: which sums. kind: which samples.
    """

    choice: str
    count: int
    part: str
    kind: str
    right: float
    error: float
    tokens: float


@dataclass(frozen=True)
class Recorded:
    """What was measured: the points, and for how many sums the vote of all samples is wrong.

    lost: of those, how many have a right answer among the samples. forgotten: in how many of the
    wrong votes the winner is the sum without what is carried.
    """

    points: tuple[Point, ...]
    wrong: int
    lost: int
    forgotten: int

    def line(self, choice: str, part: str = ALL, kind: str = ALL) -> list[Point]:
        """The points of a way, by how much is spent."""
        key = (choice, part, kind)
        return [dot for dot in self.points if (dot.choice, dot.part, dot.kind) == key]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Recorded:
    """Return the bundled results. Raises ValueError where the file is missing or damaged."""
    with records.Recorded(folder / FILE, COMMAND) as content:
        found = records.typed(content, Recorded)
        if any(not found.line(choice, part) for choice in (*CHOICES, BEAM) for part in PARTS):
            raise TypeError("a way is missing")
        return found
