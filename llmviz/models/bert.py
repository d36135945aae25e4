"""BERT: an encoder-only transformer that says which word stands where one is hidden.

B batch, T time, C = n_embd, V vocabulary. Blocks and taps are those of `gpt`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from llmviz.config import setting
from llmviz.models.gpt import GPT, GPTConfig
from llmviz.nn.cache import KVCache

MASKS = ("none",)
EXTRA_IDS = 2  # ids that a BERT has besides those of its tokenizer: see `BERTConfig`


@dataclass(frozen=True)
class BERTConfig(GPTConfig):
    """Settings of a BERT: those of a GPT, but every token sees all tokens, before and after it.

    The last two of the V ids are no text: V − 2 stands where a token is hidden, V − 1 fills rows
    of short texts and is seen by nobody.
    """

    mask: str = setting("none", "who may look at whom: all at all", choices=MASKS)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_one_of("mask", MASKS)
        if not self.shift:
            raise ValueError("shift is about the next token, which a BERT does not predict")
        if self.vocab_size <= EXTRA_IDS:
            raise ValueError(
                f"vocab_size must be above {EXTRA_IDS}, two ids being no text; "
                f"got {self.vocab_size}"
            )

    @property
    def mask_id(self) -> int:
        """The id that stands where a token is hidden."""
        return self.vocab_size - 2

    @property
    def pad_id(self) -> int:
        """The id that fills rows of short texts."""
        return self.vocab_size - 1


class BERT(GPT):
    """The GPT's embeddings, blocks and head without the causal mask.

    `forward(idx, targets)`: idx (B, T) with some tokens hidden; targets (B, T) hold the token that
    stands there, and −1 everywhere else. The loss is the masked-language-model loss: the mean
    cross-entropy over the hidden tokens, in nats.

    Reference: Devlin et al. 2019, "BERT", section 3.1. Deviations: pre-norm unless set otherwise,
    a head without a layer of its own, no segments and no next-sentence task.
    """

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
