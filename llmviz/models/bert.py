"""BERT: an encoder-only transformer that says which word stands where one is hidden.

B batch, T time, C = n_embd, V vocabulary. Blocks and taps are those of `gpt`.
"""

import torch
from torch import Tensor

from llmviz.models.gpt import GPT
from llmviz.models.settings import BERTConfig
from llmviz.nn.cache import KVCache


class BERT(GPT):
    """The GPT's embeddings, blocks and head without the causal mask.

    `forward(idx, targets)`: idx (B, T) with some tokens hidden; targets (B, T) hold the token that
    stands there, and −1 everywhere else. The loss is the masked-language-model loss: the mean
    cross-entropy over the hidden tokens, in nats.

    Reference: Devlin et al. 2019, "BERT", section 3.1. Deviations: pre-norm unless set otherwise,
    a head without a layer of its own, no segments and no next-sentence task.
    """

    config: BERTConfig

    def __init__(self, config: BERTConfig):
        super().__init__(config)

    def visible(self, idx: Tensor, start: int = 0) -> tuple[Tensor | None, bool]:
        """Everybody sees all tokens but the padding: (B, 1, 1, T), and that it is not causal."""
        return (idx != self.config.pad_id)[:, None, None, :], False

    def new_cache(self, batch: int = 1) -> KVCache:
        """Raises ValueError: what a token reads changes with every token after it."""
        raise ValueError("a BERT sees what comes after a token, so there is nothing to cache")

    def fill_in(self, ids: list[int] | tuple[int, ...], place: int) -> Tensor:
        """Probabilities (V,) of the token at `place` of a text, hidden from the model.

        Raises ValueError for a place outside the text and for more tokens than the context.
        """
        if not 0 <= place < len(ids):
            raise ValueError(f"place must be from 0 to {len(ids) - 1}; got {place}")
        idx = torch.tensor([list(ids)], device=self.token.weight.device)
        idx[0, place] = self.config.mask_id
        with torch.inference_mode():
            return self(idx)[0][0, place].softmax(-1)
