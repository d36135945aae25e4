"""One hidden word at a time, asked of a model that reads both sides or of one that reads the left.

T tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.bert import BERT
from llmviz.training.data import end_id

ROWS = 64  # questions in one forward pass


class Question(NamedTuple):
    """A text as ids, and the place of the token that is asked for."""

    ids: tuple[int, ...]
    place: int

    @property
    def answer(self) -> int:
        """The id that stands there."""
        return self.ids[self.place]


@dataclass(frozen=True)
class HiddenWordScore:
    """How well hidden tokens are told, each of them hidden alone."""

    nats: float  # minus the log-probability of all of them
    right: int  # how many were the most probable token
    tokens: int

    def to_dict(self) -> dict[str, float]:
        """The counts and the averages, for JSON."""
        return {
            "tokens": self.tokens,
            "nats_per_token": self.nats / self.tokens,
            "share_right": self.right / self.tokens,
        }


def questions(
    tokenizer: Any, documents: Sequence[str], context: int, each: int = 8, seed: int = 0
) -> list[Question]:
    """Some tokens of the first `context` tokens of each document, `each` of them at most.

    A document begins with the end-of-text token, as in training; special tokens are not asked for.
    """
    rng, drawn = np.random.default_rng(seed), []
    end, special = end_id(tokenizer), set(tokenizer.special_tokens.values())
    for document in documents:
        ids = (end, *tokenizer.encode(document))[:context]
        places = [place for place, token_id in enumerate(ids) if token_id not in special]
        chosen: Any = rng.choice(places, min(each, len(places)), replace=False) if places else []
        drawn += [Question(ids, int(place)) for place in sorted(chosen)]
    return drawn


def evaluate_hidden(model: LanguageModel, questions: Sequence[Question]) -> HiddenWordScore:
    """Score a model on the same questions, whichever kind it is.

    A BERT reads all of the text but the token asked for; another model reads what stands before
    that token. Raises ValueError for no question.
    """
    if not questions:
        raise ValueError("there is no hidden word to ask for")
    nats, right = 0.0, 0
    for first in range(0, len(questions), ROWS):
        some = questions[first : first + ROWS]
        answers = torch.tensor([question.answer for question in some])
        log_p = _log_probabilities(model, some)  # (rows, V)
        nats -= float(log_p.gather(1, answers[:, None]).double().sum())
        right += int((log_p.argmax(1) == answers).sum())
    return HiddenWordScore(nats, right, len(questions))


@torch.no_grad()
def _log_probabilities(model: LanguageModel, questions: Sequence[Question]) -> Tensor:
    """ln p of every token at the places asked for, (rows, V), in eval mode."""
    both = isinstance(model, BERT)
    filler = model.config.pad_id if both else 0
    idx = torch.full((len(questions), max(len(question.ids) for question in questions)), filler)
    for row, question in enumerate(questions):
        idx[row, : len(question.ids)] = torch.tensor(question.ids)
        if both:
            idx[row, question.place] = model.config.mask_id
    # a token is predicted in its own place by a BERT, in the place before it by the others
    places = torch.tensor([question.place - (not both) for question in questions])
    was_training = model.training
    model.eval()
    try:
        logits = model(idx)[0]
    finally:
        model.train(was_training)
    return logits[torch.arange(len(questions)), places].log_softmax(-1)
