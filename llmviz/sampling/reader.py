"""The logits after several tokens of a text at once, for a text that grows and is cut back.

T tokens, V vocabulary, batch 1.
"""

from __future__ import annotations

import torch
from torch import Tensor

from llmviz.models.base import LanguageModel
from llmviz.models.decoder import Decoder, FastGPT, can_decode
from llmviz.models.numpy_decoder import NumpyDecoder
from llmviz.nn.cache import KVCache
from llmviz.sampling.generation import can_cache

# With the NumPy decoder, so many tokens are read sooner one after the other than at once.
SOONER_ALONE = 2


class Reader:
    """Reads a text with a model and keeps its cache as far as the next text begins in the same way.

    Raises ValueError for a model whose tokens see what comes after them.
    """

    def __init__(self, model: LanguageModel) -> None:
        mask = getattr(model.config, "mask", "causal")
        if mask != "causal":
            raise ValueError(f'guesses are checked by models with mask="causal"; got mask="{mask}"')
        self.model = model
        self.vocab_size = model.vocab_size
        self.context_length = int(model.context_length)
        self.device = next((p.device for p in model.parameters()), torch.device("cpu"))
        self._cache: KVCache | None = None
        self._decoder: Decoder | NumpyDecoder | None = None
        if can_cache(model):
            self._cache = model.new_cache()
            self._decoder = model.new_decoder() if hasattr(model, "new_decoder") else None
        self._several = _reads_several(model, self._decoder)
        self._held: list[int] = []  # the tokens that the cache holds

    def rows(self, ids: list[int], count: int) -> Tensor:
        """The logits (count, V) after each of the last `count` tokens of ids (T,).

        A text longer than the context is seen through a window of its last tokens, each at a new
        position.
        Raises ValueError where count is not from 1 to T, and above 1 past the context: there each
        token has a window of its own.
        """
        if not 1 <= count <= len(ids):
            raise ValueError(f"rows must be from 1 to {len(ids)}, the tokens read; got {count}")
        if len(ids) > self.context_length:
            if count > 1:
                raise ValueError(
                    f"past the context of {self.context_length} tokens there is one row at a time; "
                    f"got {count}"
                )
            self._keep(0)
            return self._forward(ids[-self.context_length :], None)[-1:]
        if self._cache is None:
            return self._forward(ids, None)[-count:]
        self._keep(self._shared(ids, len(ids) - count))
        new = ids[len(self._held) :]
        rows = self._read(new)
        self._held += new
        return rows[-count:]

    def _shared(self, ids: list[int], most: int) -> int:
        """How many tokens of the cache are the first ones of ids, at most `most`."""
        n = min(len(self._held), most)
        while self._held[:n] != ids[:n]:
            n -= 1
        return n

    def _keep(self, length: int) -> None:
        if self._cache is not None:
            self._cache.truncate(length)
        del self._held[length:]

    def _read(self, new: list[int]) -> Tensor:
        cache, alone, several = self._cache, self._decoder, self._several
        if cache is None or alone is None or several is None or not alone.usable_now():
            return self._forward(new, cache)
        if len(new) == 1:
            return alone.step(new[0], cache)[None]
        if len(new) <= SOONER_ALONE and isinstance(alone, NumpyDecoder):
            return torch.stack([alone.step(token, cache) for token in new])
        return several.read_each(new, cache)

    def _forward(self, ids: list[int], cache: object) -> Tensor:
        options = {} if cache is None else {"cache": cache}
        idx = torch.tensor([ids], device=self.device)
        training = self.model.training
        if training:
            self.model.eval()  # dropout must not touch what is written
        try:
            with torch.inference_mode():
                return self.model(idx, **options)[0][0]
        finally:
            if training:
                self.model.train()


def _reads_several(model: LanguageModel, decoder: object) -> Decoder | None:
    """The decoder for several tokens, which may be another one than that for a single token."""
    if isinstance(model, FastGPT):
        return model.new_decoder_of_few()
    if isinstance(decoder, Decoder):
        return decoder
    return Decoder(model) if decoder is not None and can_decode(model) else None
