"""How the documents of a plan become batches, for each kind of model.

The entry of a model in the catalogue names its builder, as MODULE:NAME.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from llmviz.models import BERTConfig, SkipGramConfig
from llmviz.models.catalogue import ModelEntry
from llmviz.training.config import Plan
from llmviz.training.data import Batches, Tell, TrainData, end_id
from llmviz.training.exercise_data import ExerciseData
from llmviz.training.masked import DiffusionData, MaskedData
from llmviz.training.pairs import PairData
from llmviz.training.references import References, references
from llmviz.training.texts import Texts
from llmviz.training.word_pairs import WordPairs


@dataclass(frozen=True)
class Material:
    """What batches are made of: a plan, its documents, and who hears what is being done."""

    plan: Plan
    entry: ModelEntry
    tokenizer: Any
    texts: Texts
    tell: Tell

    def text(self, windows: str | None = None) -> TrainData:
        """The documents as windows of token ids."""
        return TrainData.from_documents(
            self.texts.train,
            self.texts.validation,
            self.tokenizer,
            self.plan.context_length,
            windows=windows or self.plan.windows,
            seed=self.plan.train.seed,
            tell=self.tell,
            kept=self.texts.kept,
        )

    def options(self, **own: Any) -> dict[str, Any]:
        """The settings of the model: its own ones, and over them those of the plan."""
        return {"vocab_size": self.tokenizer.vocab_size, **own, **self.plan.model_options}

    def refuse_exercises(self) -> None:
        """Raise ValueError where a plan has exercises."""
        if self.plan.exercises:
            raise ValueError(
                f"exercises must be 0 where no next word is predicted; got model={self.plan.model}"
            )


class PlanBatches(Batches, Protocol):
    """Batches of a plan, whose memory is counted before it runs."""

    @property
    def longest_row(self) -> int:
        """The most tokens of a row that there is."""


class Built(NamedTuple):
    """Batches, the settings of their model, and the losses to compare its loss with, if known."""

    data: PlanBatches
    options: dict[str, Any]
    counted: References | None = None


def next_words(given: Material) -> Built:
    """Windows of text, for a model of the next token; with exercises where the plan has them."""
    plan, text = given.plan, given.text()
    corpus = "" if plan.files else plan.corpus  # the floor is known of one text alone

    def count() -> References:
        given.tell("counting pairs of tokens", 0, len(text.train.ids), "tokens")
        parts = given.texts.train, given.texts.validation
        return references(np.asarray(text.train.ids), *parts, given.tokenizer, corpus)

    counted = given.texts.kept.references(given.tokenizer, corpus, count)
    data: PlanBatches = text
    if plan.exercises:
        data = ExerciseData.of(
            text, given.texts.train, given.tokenizer, plan.exercises, plan.practice
        )
    return Built(data, given.options(context_length=plan.context_length), counted)


def hidden_words(given: Material) -> Built:
    """A document a row with some words hidden; the ids that no text has are behind the others."""
    return _with_hidden(given, MaskedData)


def any_share_hidden(given: Material) -> Built:
    """The same with any number of words hidden, from one to all."""
    return _with_hidden(given, DiffusionData)


def _with_hidden(given: Material, kind: type[MaskedData]) -> Built:
    plan = given.plan
    text = given.text("padded" if plan.windows == "auto" else None)
    given.refuse_exercises()
    size = given.tokenizer.vocab_size + given.entry.extra_ids
    options = given.options(vocab_size=size, context_length=plan.context_length)
    config = BERTConfig.from_dict(options)
    return Built(kind(text, config.mask_id, config.pad_id), options)


def word_pairs(given: Material) -> Built:
    """Words that stand near each other."""
    text = given.text()
    given.refuse_exercises()
    options = given.options()
    config = SkipGramConfig.from_dict(options)
    return Built(WordPairs(text, end_id(given.tokenizer), config), options)


def translations(given: Material) -> Built:
    """Sentences with their translations."""
    plan = given.plan
    train: list[Any]
    validation: list[Any]
    train, validation = list(given.texts.train), list(given.texts.validation)
    data = PairData.from_pairs(
        train, validation, given.tokenizer, plan.context_length, plan.train.seed
    )
    own = given.options(context_length=plan.context_length)
    return Built(data, own | PairData.special_ids(given.tokenizer))
