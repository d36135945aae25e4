"""Small models that read a text in which some jobs lean to women, and what they make of it.

`python -m experiments make leaning` trains the bundled ones again, three minutes on one core, and
writes `data/experiments/leaning.json`. Reading it needs no torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.corpus.leaning import MEN, PRONOUNS, WOMEN, LeaningText, leaning_text
from llmviz.course.lessons.errors.association import (
    association,
    association_test,
    without_direction,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.records import Recorded, typed

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.course.lessons.errors.small_reader import Reader
    from llmviz.models.base import LanguageModel

FILE = "leaning.json"
COMMAND = "python -m experiments make leaning"
SEEDS = (0, 1, 2)
PASSES, CONTEXT = 4, 12
HEATS = (0.0, 0.5, 1.0)  # temperatures at which sentences are written
WRITTEN = 50  # sentences after each job at each of them
EXAMPLES = 6  # of them that are kept whole, at the last temperature


@dataclass(frozen=True)
class JobRead:
    """A job in one model: what was planted, and what the model says and where its vector lies.

    planted: share of women in the text. probability: of "she" among "she" and "he" after "The JOB
    said that". removed: the same once the direction is taken out of all vectors of tokens;
    jobs_removed: out of those of the jobs alone.
    association: of its vector with names of women, minus that with names of men. written: at each
    of HEATS, how many of WRITTEN sentences that begin like this have "she", and how many "he".
    """

    name: str
    planted: float
    direct: bool
    probability: float
    removed: float
    jobs_removed: float
    association: float
    written: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Measured:
    """One model: its jobs, the test of its vectors, and whether pronouns agree with names.

    effect, p_value: see `Association`. agreement: mean probability of the right pronoun after a
    name. The three called removed are the same once the direction is taken out. examples: sentences
    that it wrote about the first jobs that were read with pronouns, at the last of HEATS.
    """

    jobs: list[JobRead]
    effect: float
    p_value: float
    agreement: float
    effect_removed: float
    agreement_removed: float
    examples: tuple[str, ...]


def train_one(lean: float, seed: int) -> Measured:
    """Train a model on a text with a lean and measure it."""
    from llmviz.course.lessons.errors.small_reader import read_text

    text = leaning_text(lean, seed)
    *_, reader = read_text(text.documents, passes=PASSES, seed=seed, context=CONTEXT)
    return measure(reader, text)


def measure(reader: Reader, text: LeaningText) -> Measured:
    """Return what a model makes of its text, as it is and without the direction from he to she."""
    jobs = [job.name for job in text.jobs]
    table = _table(reader.model)
    plain = table.detach().double().numpy().copy()
    places = {word: reader.tokenizer.encode(word)[0] for word in (*jobs, *WOMEN, *MEN, *PRONOUNS)}
    direction = plain[places["she"]] - plain[places["he"]]

    def tested(vectors: np.ndarray) -> tuple[np.ndarray, Any]:
        at = {word: vectors[place] for word, place in places.items()}
        women, men = (np.stack([at[name] for name in people]) for people in (WOMEN, MEN))
        of_jobs = np.stack([at[job] for job in jobs])
        half = text.first_half
        tested = association_test(of_jobs[:half], of_jobs[half:], (women, men))
        return association(of_jobs, (women, men)), tested

    near, before = tested(plain)
    said, agreement = _pronouns(reader, jobs), _agreement(reader)
    texts = {heat: [write(reader, job, heat) for job in jobs] for heat in HEATS}
    with _changed(table, without_direction(plain, direction)):
        removed, agreement_removed = _pronouns(reader, jobs), _agreement(reader)
    alone = plain.copy()
    rows = [places[job] for job in jobs]
    alone[rows] = without_direction(plain[rows], direction)
    with _changed(table, alone):
        jobs_removed = _pronouns(reader, jobs)
    _, after = tested(without_direction(plain, direction))
    return Measured(
        [
            JobRead(
                job.name,
                job.share,
                job.direct,
                round(float(said[at]), 4),
                round(float(removed[at]), 4),
                round(float(jobs_removed[at]), 4),
                round(float(near[at]), 4),
                tuple(with_pronouns(texts[heat][at]) for heat in HEATS),
            )
            for at, job in enumerate(text.jobs)
        ],
        before.effect,
        before.p_value,
        agreement,
        after.effect,
        agreement_removed,
        tuple(some[0] for job, some in zip(text.jobs, texts[HEATS[-1]], strict=True) if job.direct)[
            :EXAMPLES
        ],
    )


def _table(model: LanguageModel) -> Tensor:
    """The vectors of the tokens, which the model also scores the next token with."""
    return model.get_parameter("token.weight")


class _changed:
    """Put other vectors into a table for a while."""

    def __init__(self, table: Tensor, vectors: np.ndarray) -> None:
        self.table, self.vectors = table, vectors

    def __enter__(self) -> None:
        import torch

        self.before = self.table.detach().clone()
        with torch.no_grad():
            self.table.copy_(torch.from_numpy(self.vectors))

    def __exit__(self, *_: object) -> None:
        import torch

        with torch.no_grad():
            self.table.copy_(self.before)


def _pronouns(reader: Reader, jobs: list[str]) -> np.ndarray:
    """The share of "she" among both pronouns after "The JOB said that"."""
    return _share_of_she(reader, [f"The {job} said that" for job in jobs])


def _agreement(reader: Reader) -> float:
    """The mean share of the right pronoun after a name."""
    she = _share_of_she(reader, [f"{name} said that" for name in (*WOMEN, *MEN)])
    right = np.concatenate([she[: len(WOMEN)], 1 - she[len(WOMEN) :]])
    return round(float(right.mean()), 4)


def _share_of_she(reader: Reader, beginnings: list[str]) -> np.ndarray:
    import torch

    from llmviz.training.data import end_id

    end = end_id(reader.tokenizer)
    rows = torch.tensor([[end, *reader.tokenizer.encode(text)] for text in beginnings])
    both = [reader.tokenizer.encode(pronoun)[0] for pronoun in PRONOUNS]
    reader.model.eval()
    with torch.no_grad():
        logits = reader.model(rows)[0][:, -1].double()
    return logits[:, both].softmax(-1)[:, 0].numpy()


def write(reader: Reader, job: str, temperature: float, count: int = WRITTEN) -> list[str]:
    """Return sentences that a model writes from "The JOB said that" on, token by token."""
    import torch

    from llmviz.sampling.drafts import draw
    from llmviz.sampling.steps import apply_temperature, softmax
    from llmviz.training.data import end_id

    end = end_id(reader.tokenizer)
    chance = np.random.default_rng([*job.encode(), round(1_000 * temperature)])
    rows = [[end, *reader.tokenizer.encode(f"The {job} said that")] for _ in range(count)]
    reader.model.eval()
    while len(rows[0]) < reader.model.context_length:
        with torch.no_grad():
            logits = reader.model(torch.tensor(rows))[0][:, -1].double().numpy()
        for row, values in zip(rows, logits, strict=True):
            drawn = draw(softmax(apply_temperature(values, temperature)), chance.random())
            row.append(end if end in row[1:] else drawn)
    return [
        reader.tokenizer.decode(row[1 : row.index(end, 1) if end in row[1:] else None])
        for row in rows
    ]


def with_pronouns(sentences: Sequence[str]) -> tuple[int, int]:
    """Return how many sentences have "she", and how many "he".

    >>> with_pronouns(["The baker said that she was glad.", "The baker said that."])
    (1, 0)
    """
    she, he = (sum(f" {pronoun} " in f"{text} " for text in sentences) for pronoun in PRONOUNS)
    return she, he


def sharpened(share: float, temperature: float) -> float:
    """Return how often "she" is written at a temperature where its share is `share` at 1.

    At 0 the more probable one is always written; equal ones are half each.

    >>> round(sharpened(0.9, 0.5), 3)
    0.988
    """
    if temperature < 0:
        raise ValueError(f"a temperature cannot be below 0; got {temperature}")
    if share in (0.0, 0.5, 1.0):
        return share
    if temperature == 0:
        return float(share > 0.5)
    odds = np.exp((np.log(1 - share) - np.log(share)) / temperature)
    return float(1 / (1 + odds))


@cache
def bundled(lean: float, seed: int, folder: Path = EXPERIMENT_FOLDER) -> Measured:
    """Return what was measured on a bundled model. ValueError where it is not in this copy."""
    with Recorded(folder / FILE, COMMAND) as content:
        return typed(content["runs"][run_name(lean, seed)], Measured)


def run_name(lean: float, seed: int) -> str:
    return f"lean-{lean}.seed-{seed}"
