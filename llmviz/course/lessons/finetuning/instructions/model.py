"""A question with its answer as a model is trained on it: which tokens count, and what they cost.

T tokens of the example, the end-of-text token at both ends included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from llmviz.corpus import generate

if TYPE_CHECKING:
    from llmviz.finetuning.instructions import Instruction
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer

_SEED_OFFSET = 5_000_011  # so that the stories are not those that anything was trained on


class Example(NamedTuple):
    """An example token by token: its ids (T,), and which of them the loss counts (T,) bool."""

    ids: tuple[int, ...]
    counts: tuple[bool, ...]

    @property
    def targets(self) -> list[int]:
        """What stands as target at each place but the last, −1 where none counts (T − 1,)."""
        from llmviz.nn.loss import IGNORED

        pairs = zip(self.ids[1:], self.counts[1:], strict=True)
        return [token if counted else IGNORED for token, counted in pairs]


def example_of(tokenizer: Tokenizer, instruction: Instruction, context_length: int) -> Example:
    """Return an example token by token.

    Raises ValueError for one that is longer than a model with this context is trained on.
    """
    from llmviz.finetuning.instructions import tokens_of

    tokens = tokens_of(tokenizer, instruction)
    if len(tokens) > context_length + 1:
        raise ValueError(
            f"story, question and answer must have at most {context_length + 1} tokens to be "
            f"trained on; they have {len(tokens)}"
        )
    return Example(*(tuple(part) for part in zip(*tokens, strict=True)))


def nats_of(model: LanguageModel, example: Example) -> np.ndarray:
    """Return minus the log-probability of each token but the first, (T − 1,), in nats."""
    import torch

    ids = torch.tensor([example.ids])
    with torch.inference_mode():
        chances = model(ids[:, :-1])[0][0].double().log_softmax(-1)
    return -chances[torch.arange(ids.shape[1] - 1), ids[0, 1:]].numpy()


def losses_of(nats: np.ndarray, example: Example) -> tuple[float, float]:
    """Return the mean over the tokens that count, and that over all, in nats per token."""
    return float(nats[np.array(example.counts[1:])].mean()), float(nats.mean())


def plain_stories(count: int) -> list[str]:
    """Return stories that nothing here was trained on."""
    return [story.text for story in generate(count=count, seed=_SEED_OFFSET)]


def story_losses(model: LanguageModel, tokenizer: Tokenizer, stories: Sequence[str]) -> np.ndarray:
    """Return the loss of each story in nats per token, its end included: (stories,)."""
    from llmviz.training.evaluate import evaluate_documents

    return np.array([evaluate_documents(model, tokenizer, [story]).per_token for story in stories])
