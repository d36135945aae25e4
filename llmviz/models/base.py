"""What every language model of the registry has in common.

B batch, T time, V vocabulary.
"""

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.config import Config
from llmviz.nn.cache import KVCache
from llmviz.nn.loss import next_token_loss
from llmviz.trace import name_taps

if TYPE_CHECKING:
    from llmviz.models.decoder import Decoder
    from llmviz.models.numpy_decoder import NumpyDecoder


class LanguageModel(nn.Module):
    """`forward(idx, targets=None) -> (logits, loss)`, a `config`, a `context_length`.

    idx (B, T) token ids; targets (B, T), the id that follows each, −1 where there is no loss.
    logits (B, T, V) before the softmax; loss in nats per token, None without targets.
    """

    config: Any  # a class says in its own body which `Config` it takes
    label_smoothing = 0.0  # share of each target that is spread over V, in the loss it learns by

    def __init__(self, config: Config):
        super().__init__()
        self.config = config

    @property
    def context_length(self) -> int:
        """The most tokens that one forward pass takes."""
        return self.config.context_length

    @property
    def vocab_size(self) -> int:
        """V, how many token ids there are."""
        return self.config.vocab_size

    def finish(self) -> None:
        """Called by a subclass at the end of its `__init__`: names the taps."""
        name_taps(self)

    def check_length(self, idx: Tensor, before: int = 0) -> None:
        """Raise ValueError unless idx is whole numbers (B, T), 1 ≤ T ≤ context length − before."""
        if idx.dtype not in (torch.int32, torch.int64):
            raise ValueError(f"token ids must be int32 or int64; got {str(idx.dtype)[6:]}")
        if idx.dim() != 2 or idx.shape[1] < 1:
            raise ValueError(
                f"token ids must have the shape (batch, time) with at least one token; "
                f"got {tuple(idx.shape)}"
            )
        if before + idx.shape[1] > self.context_length:
            raise ValueError(
                f"the model's context is {self.context_length} tokens; got {before + idx.shape[1]}"
            )

    def check_ids(self, idx: Tensor) -> None:
        """Raise ValueError for a shape that does not fit or an id outside the vocabulary.

        On a GPU the ids are not read, which would hold it up.
        """
        self.check_length(idx)
        if idx.device.type == "cpu" and not 0 <= idx.min() <= idx.max() < self.vocab_size:
            raise self._unknown_id(idx)

    def embed_ids(self, idx: Tensor, weight: Tensor) -> Tensor:
        """Rows of `weight` (V, C) for idx (…): (…, C). Raises ValueError for an unknown id.

        On a GPU, torch itself stops the program for an id outside the vocabulary.
        """
        try:
            return F.embedding(idx, weight)
        except IndexError as error:
            raise self._unknown_id(idx) from error

    def _unknown_id(self, idx: Tensor) -> ValueError:
        low, high = idx.min().item(), idx.max().item()
        return ValueError(f"token ids must be from 0 to {self.vocab_size - 1}; got {low} to {high}")

    def loss(self, logits: Tensor, targets: Tensor | None) -> Tensor | None:
        """Nats per token, or None without targets."""
        if targets is None:
            return None
        return next_token_loss(logits, targets, self.label_smoothing if self.training else 0.0)


class CachingModel(LanguageModel):
    """One that keeps what it has read of a text, and may have a faster step for one token more."""

    def new_cache(self, batch: int = 1) -> KVCache:
        """An empty cache for so many texts."""
        raise NotImplementedError

    def new_decoder(self) -> "Decoder | NumpyDecoder | None":
        """The faster step; None where there is none."""
        return None


def count_parameters(model: nn.Module, *, embeddings: bool = True) -> int:
    """How many numbers the model learns; a matrix that is used twice counts once.

    embeddings: whether embedding tables count (a tied head's matrix is such a table).
    """
    tables = {
        id(parameter)
        for module in model.modules()
        if isinstance(module, nn.Embedding)
        for parameter in module.parameters(recurse=False)
    }
    return sum(p.numel() for p in model.parameters() if embeddings or id(p) not in tables)
