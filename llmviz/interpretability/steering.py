"""Steering: something is added to a transformer's stream, or a head is turned up, while it writes.

B rows, T tokens, C = n_embd, D doses, N texts of a dose, K kinds of words. The start token is left
as it is.

Reference: Turner et al. 2023, "Activation Addition"; Rimsky et al. 2024, "Steering Llama 2 via
Contrastive Activation Addition"; Arditi et al. 2024, "Refusal in Language Models Is Mediated by a
Single Direction", section 2.4 (a direction that is removed).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.grammar_likelihood import kept_characters
from llmviz.corpus.roles import split_words

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer

    Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class Push:
    """What is turned up: a direction (C,) at the end of a layer, or the output of one head.

    A dose of 1 adds the direction once, or the head's output once more; −1 takes it away.
    """

    layer: int
    direction: np.ndarray | None = None
    head: int = -1

    @property
    def tap(self) -> str:
        """The tap at which it is done."""
        part = "residual" if self.direction is not None else "attn.concat"
        return f"blocks.{self.layer}.{part}"

    def change(self, dose: float | Tensor, heads: int) -> Change:
        """What is made of what passes the tap (B, T, C); dose: of all rows, or (B, 1, 1)."""
        import torch

        if self.direction is not None:
            direction = torch.from_numpy(np.asarray(self.direction, np.float32))
            return lambda x: x + dose * direction

        def scaled(x: Tensor) -> Tensor:
            size = x.shape[-1] // heads
            columns = slice(self.head * size, (self.head + 1) * size)
            x = x.clone()
            x[..., columns] = x[..., columns] + dose * x[..., columns]
            return x

        return scaled


def require(gpt: GPT, push: Push) -> None:
    """Raise ValueError for a layer, a head or a direction that the model does not have."""
    config = gpt.config
    if not 0 <= push.layer < config.n_layer:
        raise ValueError(f"layer must be from 0 to {config.n_layer - 1}; got {push.layer}")
    if push.direction is not None and np.shape(push.direction) != (config.n_embd,):
        raise ValueError(
            f"direction must have {config.n_embd} numbers; got {np.shape(push.direction)}"
        )
    if push.direction is None and not 0 <= push.head < config.n_head:
        raise ValueError(f"head must be from 0 to {config.n_head - 1}; got {push.head}")


def removed(direction: np.ndarray, mean: np.ndarray) -> Change:
    """What takes a direction out of vectors: along it, all of them get the value of the mean.

    Raises ValueError for a direction of length 0.
    """
    import torch

    length = float(np.linalg.norm(direction))
    if not length > 0:
        raise ValueError("a direction of length 0 cannot be removed")
    unit = torch.from_numpy(np.asarray(direction / length, np.float32))
    middle = torch.from_numpy(np.asarray(mean, np.float32))
    return lambda x: x - ((x - middle) @ unit)[..., None] * unit


def write(
    gpt: GPT,
    prompt: Sequence[int],
    push: Push,
    doses: Sequence[float],
    tokens: int,
    copies: int = 1,
    temperature: float = 1.0,
    seed: int = 0,
) -> np.ndarray:
    """Return the ids (D, N, tokens) that follow a prompt at each dose, all rows at once.

    prompt: ids, the start token first. The texts of one number get the same random numbers at all
    doses, so what differs is due to the dose. Raises ValueError where the prompt and the tokens are
    more than the context holds.
    """
    import torch

    from llmviz.trace import replaced

    require(gpt, push)
    if len(prompt) + tokens > gpt.context_length + 1:
        raise ValueError(
            f"the model's context is {gpt.context_length} tokens; got {len(prompt)} of a prompt "
            f"and {tokens} to write"
        )
    rows = len(doses) * copies
    each = torch.tensor(list(doses)).repeat_interleave(copies)[:, None, None]
    change = push.change(each, gpt.config.n_head)
    draws = np.random.default_rng(seed).random((tokens, copies))
    cache, new = gpt.new_cache(rows), torch.tensor([list(prompt)]).expand(rows, -1)
    written = []
    for step in range(tokens):

        def changed(x: Tensor, first: int = int(step == 0)) -> Tensor:
            return torch.cat((x[:, :first], change(x[:, first:])), 1)

        with torch.inference_mode(), replaced({push.tap: changed}):
            logits = gpt(new, cache=cache, last_only=True)[0][:, -1]  # (B, V)
        if temperature > 0:
            sums = (logits.double() / temperature).softmax(-1).cumsum(-1)
            u = torch.from_numpy(draws[step]).repeat(len(doses))[:, None] * sums[:, -1:]
            new = torch.searchsorted(sums, u, right=True).clamp_max(sums.shape[1] - 1)
        else:
            new = logits.argmax(-1, keepdim=True)
        written.append(new[:, 0])
    return torch.stack(written, -1).numpy().reshape(len(doses), copies, tokens)


def texts_of(ids: np.ndarray, tokenizer: Tokenizer) -> list[list[str]]:
    """Return the texts [dose][copy] of ids (D, N, T), each up to the end that the model wrote."""
    ends = set(tokenizer.ends)

    def text(row: Sequence[int]) -> str:
        stop = next((at for at, token in enumerate(row) if token in ends), len(row))
        return tokenizer.decode(row[:stop])

    return [[text(row) for row in of_dose] for of_dose in ids.tolist()]


@dataclass(frozen=True)
class Written:
    """What texts of one dose are like.

    share: of the words that are of the wanted kind. kept: the mean share of the written characters
    that stand before the first phrase which the grammar cannot write; 1 for a text without one.
    stories: the share of the texts without one. most: the most frequent word, and its share.
    """

    words: int
    share: float
    kept: float
    stories: float
    most: str
    most_share: float


def measure(prompt: str, texts: Sequence[str], wanted: frozenset[str]) -> Written:
    """Measure texts that follow a prompt; wanted: the words that are counted."""
    counted: Counter[str] = Counter()
    kept, whole = [], 0
    for text in texts:
        counted.update(word for word, _ in split_words(text) if any(map(str.isalpha, word)))
        good = max(0, kept_characters(prompt + text) - len(prompt))
        kept.append(good / len(text) if text else 1.0)
        whole += good == len(text)
    words = sum(counted.values())
    most, times = counted.most_common(1)[0] if counted else ("", 0)
    return Written(
        words,
        sum(counted[word] for word in wanted) / words if words else 0.0,
        float(np.mean(kept)) if kept else 1.0,
        whole / len(texts) if texts else 1.0,
        most,
        times / words if words else 0.0,
    )
