"""Stories, and at some of the steps exercises in their place, where only the answers are scored."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from llmviz.corpus.detail_exercises import detail_exercise, details_asked, holds_details
from llmviz.corpus.exercises import Piece, asked_often, exercise, holds_two_things
from llmviz.nn.loss import IGNORED
from llmviz.training.config import BOTH, DETAILS, OWNERS
from llmviz.training.data import TrainData, end_id, scored
from llmviz.training.derived_data import DerivedData

TRIES = 20  # a short context may end before the first answer; then others are made


class _Practice(NamedTuple):
    """How exercises of a kind are made, and of which stories."""

    questions: Callable[[str, random.Random], list[Piece]]
    own: Callable[[random.Random], list[Piece]]
    fits: Callable[[str], bool]
    from_stories: (
        float  # share of the exercises: a story with many questions, not a list of our own
    )


_PRACTICES = {
    OWNERS: _Practice(asked_often, exercise, holds_two_things, 0.55),
    DETAILS: _Practice(details_asked, detail_exercise, holds_details, 0.3),
    BOTH: _Practice(
        lambda story, chance: chance.choice((asked_often, details_asked))(story, chance),
        lambda chance: chance.choice((exercise, detail_exercise))(chance),
        holds_two_things,
        0.5,
    ),
}


@dataclass(frozen=True)
class ExerciseData(DerivedData):
    """The batches of `text`, and with probability `share` a batch of exercises in place of one.

    Which step has which, and what stands in an exercise, depends on the text's seed and the step
    alone. Validation is on the text.
    """

    stories: list[str]  # that exercises are made of
    tokenizer: Any
    share: float
    practice: str = OWNERS  # what is practised, see `Plan.practice`

    @classmethod
    def of(
        cls,
        text: TrainData,
        documents: Iterable[str],
        tokenizer: Any,
        share: float,
        practice: str = OWNERS,
    ) -> ExerciseData:
        """Exercises beside a text. Raises ValueError where no story is fit to ask about."""
        stories = [document for document in documents if _PRACTICES[practice].fits(document)]
        if not stories:
            raise ValueError(
                f"exercises must be 0 for a text without a story in which two things are found; "
                f"got {share}"
            )
        return cls(text, stories, tokenizer, share, practice)

    def batch(self, step: int, rows: int) -> tuple[Tensor, Tensor]:
        """Inputs and targets of update `step`: two int64 tensors (rows, T), T <= context_length."""
        chance = random.Random(f"{self.text.seed} {step}")
        if chance.random() >= self.share:
            return self.text.batch(step, rows)
        practice = _PRACTICES[self.practice]
        for _ in range(TRIES):
            if chance.random() < practice.from_stories:
                exercises = [
                    practice.questions(chance.choice(self.stories), chance) for _ in range(rows)
                ]
            else:
                exercises = [practice.own(chance) for _ in range(rows)]
            batch = self._tensors(exercises)
            if scored(batch):
                return batch
        return self.text.batch(step, rows)

    def validation_batches(self, rows: int, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Those of the text."""
        return self.text.validation_batches(rows, count)

    def count(self, batch: tuple[Tensor, ...]) -> int:
        """How many tokens of the targets carry loss."""
        return scored(batch)

    def _tensors(self, exercises: Sequence[Sequence[Piece]]) -> tuple[Tensor, Tensor]:
        """Inputs, and as targets the tokens of the answers."""
        end, most = end_id(self.tokenizer), self.context_length + 1
        rows = [self._encoded(pieces)[:most] for pieces in exercises]
        width = max(len(row) for row in rows) - 1
        inputs = np.full((len(rows), width), end, dtype=np.int64)
        targets = np.full((len(rows), width), IGNORED, dtype=np.int64)
        for row, pairs in enumerate(rows):
            ids, answers = np.array(pairs).T
            inputs[row, : len(ids) - 1] = ids[:-1]
            targets[row, : len(ids) - 1] = np.where(answers[1:], ids[1:], IGNORED)
        return torch.from_numpy(inputs), torch.from_numpy(targets)

    def _encoded(self, pieces: Sequence[Piece]) -> list[tuple[int, bool]]:
        """(id, whether it belongs to an answer), from the id that opens a document."""
        pairs = [(end_id(self.tokenizer), False)]
        for piece in pieces:
            pairs += [(token, piece.answer) for token in self.tokenizer.encode(piece.text)]
        return pairs
