"""Text one token at a time: run the model, sample, append, and once more.

Shapes: B = 1 batch, T time, V vocabulary. Works with every model of the contract
`forward(idx (B, T)) -> (logits (B, T, V), loss)`; a model that offers `new_cache` is asked only
for what is new.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import torch

from llmviz.models.base import CachingModel, LanguageModel
from llmviz.nn.cache import KVCache
from llmviz.sampling import steps as pure
from llmviz.sampling.pipeline import SamplingSteps, random_number, rank_of, top_ids
from llmviz.sampling.settings import SamplingSettings


@dataclass(frozen=True)
class GeneratedToken:
    """One generated token and how it came about.

    `probability`, `rank` (1 = most probable) and `entropy` (nats) belong to the model's own
    distribution; `chance` is the probability in the distribution that was drawn from, and `u` the
    random number that fell on the token. `alternatives` are the model's most probable (id,
    probability). `steps` is the whole pipeline, only when it was asked for.
    """

    id: int
    probability: float
    chance: float
    rank: int
    entropy: float
    u: float
    alternatives: tuple[tuple[int, float], ...] = ()
    window_slid: bool = False
    steps: SamplingSteps | None = None

    @property
    def log_probability(self) -> float:
        """The natural logarithm of the model's own probability of the token."""
        return math.log(self.probability) if self.probability > 0 else -math.inf


def as_ids(idx: torch.Tensor | Iterable[int], vocab_size: int | None = None) -> list[int]:
    """Return prompt token ids as a list, from a list, a tensor (T,) or a tensor (1, T).

    Raises: ValueError when there is none, when there are several rows, or for an id out of range.
    """
    if isinstance(idx, torch.Tensor):
        if idx.dim() == 2 and idx.shape[0] == 1:
            idx = idx[0]
        if idx.dim() != 1:
            raise ValueError(f"one prompt at a time: expected (T,) or (1, T); got {idx.shape}")
        idx = idx.tolist()
    ids = [int(i) for i in idx]
    if not ids:
        raise ValueError("the prompt is empty; begin with the tokenizer's start token id")
    if vocab_size is not None:
        pure.check_ids(ids, vocab_size, "prompt")
    return ids


class NextLogits:
    """The model's logits for the token after a growing sequence.

    With a cache each call computes only the new tokens. Past the context length the window
    slides: the model sees the last `context_length` tokens, each at a new position, so nothing
    cached holds any more and every further token costs one full window.

    cache: what such a model has read of the first tokens, but for the last one; it is copied.
    """

    def __init__(
        self, model: LanguageModel, cache: KVCache | None = None, *, use_cache: bool = True
    ) -> None:
        self.model = model
        self.context_length = int(model.context_length)
        self._caching = model if use_cache and can_cache(model) else None
        self.use_cache = self._caching is not None
        self.device = next((p.device for p in model.parameters()), torch.device("cpu"))
        # A model with a cache can also leave out the logits that nobody looks at.
        self._last = {"last_only": True} if hasattr(model, "new_cache") else {}
        self._decoder: Any = None
        if self._caching is not None and hasattr(model, "new_decoder"):
            self._decoder = self._caching.new_decoder()
        self._cache: Any = None if cache is None or not self.use_cache else cache.copy()
        self._cached = 0 if self._cache is None else self._cache.length

    def read_before(self) -> KVCache | None:
        """Hand over the cache, less the last token, as `cache` takes it; None where there is none.

        The next call begins anew.
        """
        cache, self._cache, self._cached = self._cache, None, 0
        if cache is not None:
            cache.truncate(cache.length - 1)
        return cache

    def __call__(self, ids: list[int]) -> torch.Tensor:
        """Return logits (V,) for the token that follows `ids`, a prefix of which came before."""
        if self._decodes(ids):
            logits = self._decode(ids)
        else:
            with torch.inference_mode():
                logits = self._window(ids)
        self._cached = len(ids)
        return logits

    def _decodes(self, ids: list[int]) -> bool:
        """Whether the decoder takes what is new, and nobody looks at what it skips.

        The NumPy one takes a token at a time, for which a prompt has too many.
        """
        if self._decoder is None or len(ids) > self.context_length:
            return False
        one_more = self._cache is not None and self._cached == len(ids) - 1
        return (one_more or hasattr(self._decoder, "read")) and self._decoder.usable_now()

    def _decode(self, ids: list[int]) -> torch.Tensor:
        if self._cache is None and self._caching is not None:
            self._cache, self._cached = self._caching.new_cache(1), 0
        if self._cached == len(ids) - 1:
            return self._decoder.step(ids[-1], self._cache)
        return self._decoder.read(ids[self._cached :], self._cache)

    def _window(self, ids: list[int]) -> torch.Tensor:
        if not self.use_cache or len(ids) > self.context_length:
            self._cache = None
            window = torch.tensor([ids[-self.context_length :]], device=self.device)
            return self._forward(window, **self._last)
        if self._cache is None and self._caching is not None:
            self._cache, self._cached = self._caching.new_cache(1), 0
        new = torch.tensor([ids[self._cached :]], device=self.device)
        return self._forward(new, cache=self._cache, last_only=True)

    def _forward(self, idx: torch.Tensor, **options: Any) -> torch.Tensor:
        if not self.model.training:
            return self.model(idx, **options)[0][0, -1]
        self.model.eval()  # dropout must not touch what is written
        try:
            return self.model(idx, **options)[0][0, -1]
        finally:
            self.model.train()


def can_cache(model: LanguageModel) -> TypeGuard[CachingModel]:
    """Return whether a model offers a cache; one whose tokens see the future cannot have any."""
    return hasattr(model, "new_cache") and getattr(model.config, "mask", "causal") == "causal"


def generate(
    model: LanguageModel,
    idx: torch.Tensor | Iterable[int],
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    order: Iterable[str] | None = None,
    banned: Iterable[int] = (),
    generator: torch.Generator | None = None,
    stop_id: int | Collection[int] | None = None,
    alternatives: int = 5,
    strip: str = "id",
    cache: KVCache | None = None,
    *,
    use_cache: bool = True,
    keep_steps: bool = False,
    **more: object,
) -> Iterator[GeneratedToken]:
    """Yield up to `max_new_tokens` tokens that continue the prompt, each as soon as it is drawn.

    `idx` is a list of ids, (T,) or (1, T). A prompt, or a text, longer than the model's context
    length is seen through a window of its last `context_length` tokens; `window_slid` says so on
    each token. Stops after yielding `stop_id`, or one of several. The repetition penalty looks at
    the prompt and at everything generated. One random number is taken per token, at temperature 0
    too, so the same generator state gives the same numbers whatever the settings. The settings are
    checked at the call, before the first token is asked for; `more` are those of further steps.
    `cache` is what `NextLogits.read_before` gave after the prompt, which is then not read again.
    The model is left in the mode it was in.

    Raises: ValueError for an empty prompt, an id out of range, a negative number of tokens, a
    setting out of range, or a cache that holds more than the prompt.
    """
    settings = SamplingSettings(
        temperature,
        top_k,
        top_p,
        min_p,
        repetition_penalty,
        tuple(banned),
        tuple(order or ()),
        strip,
        more,
    )
    if max_new_tokens < 0:
        raise ValueError(f"max_new_tokens must be 0 or more; got {max_new_tokens}")
    vocab_size = vocabulary_of(model)
    if top_k is not None:
        pure.check_top_k(top_k, vocab_size)
    if vocab_size is not None:
        pure.check_ids(settings.banned, vocab_size, "banned")
    ids = as_ids(idx, vocab_size)
    check_cache(cache, ids)
    return _tokens(
        NextLogits(model, cache, use_cache=use_cache),
        ids,
        max_new_tokens,
        settings,
        generator,
        (stop_id,) if isinstance(stop_id, int) else stop_id or (),
        alternatives,
        keep_steps,
    )


def _tokens(
    next_logits: NextLogits,
    ids: list[int],
    max_new_tokens: int,
    settings: SamplingSettings,
    generator: torch.Generator | None,
    stop_ids: Collection[int],
    alternatives: int,
    keep_steps: bool,
) -> Iterator[GeneratedToken]:
    for _ in range(max_new_tokens):
        logits = next_logits(ids)
        steps = SamplingSteps(logits, settings, ids if settings.reads_previous else None)
        u = random_number(generator)
        token = steps.draw(u)
        own = steps.model_probabilities
        likely = top_ids(steps.logits, alternatives)
        yield GeneratedToken(
            id=token,
            probability=float(own[token]),
            chance=float(steps.probabilities[token]),
            rank=rank_of(steps.logits, token),
            entropy=float(pure.entropy(own)),
            u=u,
            alternatives=tuple(zip(likely.tolist(), own[likely].tolist(), strict=True)),
            window_slid=len(ids) > next_logits.context_length,
            steps=steps if keep_steps else None,
        )
        ids.append(token)
        if token in stop_ids:
            return


def check_cache(cache: KVCache | None, ids: list[int]) -> None:
    """Raise ValueError if a cache holds all tokens of a prompt: one must be left to be read."""
    if cache is not None and cache.length >= len(ids):
        raise ValueError(
            f"a cache must hold less than the prompt; it holds {cache.length} tokens of {len(ids)}"
        )


def vocabulary_of(model: LanguageModel) -> int | None:
    """Return the size of a model's vocabulary where its config tells it."""
    return getattr(getattr(model, "config", None), "vocab_size", None)


def text_measures(tokens: Iterable[GeneratedToken], n: int = 3) -> dict[str, float]:
    """Return how varied and how probable a generated text is.

    `distinct`: share of different ids among all; `repetition`: share of n-grams that occurred
    before; `mean_log_probability`: nats per token under the model itself.

    Raises: ValueError when there is no token.
    """
    tokens = list(tokens)
    if not tokens:
        raise ValueError("there is nothing to measure: no token was generated")
    ids = [token.id for token in tokens]
    grams = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]
    return {
        "distinct": len(set(ids)) / len(ids),
        "repetition": 1 - len(set(grams)) / len(grams) if grams else 0.0,
        "mean_log_probability": float(np.mean([token.log_probability for token in tokens])),
    }
