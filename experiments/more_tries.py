"""More tries at a sum: votes, a checker, the model's own probability, and beams, by tokens spent.

Makes what `llmviz.course.lessons.reasoning.best_of_n.model` reads.

Q sums, N samples of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from experiments._command import write_to
from llmviz.course.lessons.reasoning import sum_texts
from llmviz.course.lessons.reasoning.best_of_n.model import (
    ALL,
    AT_ONCE,
    BEAM,
    CARRIED,
    CHOICES,
    COMMAND,
    COUNTS,
    FILE,
    PARTS,
    QUESTIONS,
    SAMPLES,
    STEPS,
    VOTE,
    Point,
    Recorded,
    Try,
    beams_of,
    chosen,
    tries_of,
    vote,
)
from llmviz.course.lessons.reasoning.sum_texts import (
    Sum,
    carries,
    is_right,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.files import write_json

BEAMS = (1, 2, 4, 8, 15)


SEED = 2 * 10**12  # of the samples, so that none is one that another chapter draws


KINDS = (ALL, AT_ONCE, STEPS)


def point(choice: str, count: int, part: str, kind: str, rows: Sequence[Sequence[Any]]) -> Point:
    """Sum up rows, one for each sum: pairs of whether it was right, and the tokens spent."""
    right = np.array([np.mean([hit for hit, _ in row]) for row in rows])
    tokens = np.array([np.mean([spent for _, spent in row]) for row in rows])
    error = float(right.std(ddof=1) / np.sqrt(len(right))) if len(right) > 1 else 0.0
    return Point(choice, count, part, kind, float(right.mean()), error, float(tokens.mean()))


def of_kind(tries: Sequence[Try], kind: str) -> list[Try]:
    """Return the tries with steps, those without, or all."""
    if kind == ALL:
        return list(tries)
    return [attempt for attempt in tries if attempt.text.startswith(":") == (kind == AT_ONCE)]


def groups_of(tries: Sequence[Try], count: int) -> list[Sequence[Try]]:
    """Return as many groups of so many tries as there are, none in two groups."""
    return [tries[at : at + count] for at in range(0, len(tries) - count + 1, count)]


def part_of(numbers: Sum, part: str) -> bool:
    """Return whether a sum belongs to a part of PARTS."""
    return part == ALL or carries(numbers) == (part == CARRIED)


def points_of(questions: Sequence[Sum], tries: Sequence[Sequence[Try]]) -> list[Point]:
    """Sum up samples: each way, each number of samples, each part of the sums, each kind."""
    found = []
    for kind in KINDS:
        for choice in CHOICES if kind == ALL else (VOTE,):
            for count in COUNTS:
                for part in PARTS if kind == ALL else (ALL,):
                    rows = []
                    for numbers, own in zip(questions, tries, strict=True):
                        groups = groups_of(of_kind(own, kind), count)
                        if groups and part_of(numbers, part):
                            rows.append([_outcome(group, numbers, choice) for group in groups])
                    if rows and len(rows) == sum(part_of(numbers, part) for numbers in questions):
                        found.append(point(choice, count, part, kind, rows))
    return found


def _outcome(group: Sequence[Try], numbers: Sum, choice: str) -> tuple[bool, int]:
    best = chosen(group, numbers, choice)
    return best is not None and is_right(numbers, best.text), sum(sample.tokens for sample in group)


def measure(questions: Sequence[Sum], samples: int = SAMPLES) -> Recorded:
    """Ask the bundled model."""
    from tqdm import tqdm

    model = sum_texts.bundled()
    tries = tries_of(model, questions, samples, SEED)
    points = points_of(questions, tries)
    for width in BEAMS:
        rows: dict[Sum, list[tuple[bool, int]]] = {}
        for numbers in tqdm(questions, desc=f"beam {width}", leave=False):
            texts = beams_of(model, numbers, width)
            hit = bool(texts) and is_right(numbers, texts[0].text)
            rows[numbers] = [(hit, sum(text.tokens for text in texts))]
        for part in PARTS:
            some = [row for numbers, row in rows.items() if part_of(numbers, part)]
            if some:
                points.append(point(BEAM, width, part, ALL, some))
    wrong = lost = forgotten = 0
    for numbers, own in zip(questions, tries, strict=True):
        best = vote(own)
        if best is None or not is_right(numbers, best.text):
            wrong += 1
            lost += any(is_right(numbers, attempt.text) for attempt in own)
            without = sum(numbers) - 10 * carries(numbers)
            forgotten += carries(numbers) and best is not None and best.answer == without
    return Recorded(tuple(points), wrong, lost, forgotten)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Measure and write."""
    found = measure(sum_texts.sums()[1][:QUESTIONS])
    write_json(folder / FILE, {"command": COMMAND, **asdict(found)})


if __name__ == "__main__":
    write_to(make, "Ask the bundled model of sums again and again.")
