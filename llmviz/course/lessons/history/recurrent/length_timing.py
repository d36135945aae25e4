"""How long a training step takes by the length of its texts: recurrent models beside attention.

T tokens. For a process of its own: see `llmviz.background`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from llmviz.models.catalogue import able

LENGTHS = (16, 32, 64, 128, 256, 512)  # tokens
ROWS, REPEATS = 8, 3  # texts in a step, and steps of which the quickest counts
WIDTH, VOCABULARY = 64, 29
# The same width in all, and one layer: the cost of each grows with its layers.
OPTIONS = {
    "rnn": {"n_embd": WIDTH, "n_layer": 1},
    "gru": {"n_embd": WIDTH, "n_layer": 1},
    "lstm": {"n_embd": WIDTH, "n_layer": 1},
    "gpt": {"n_embd": WIDTH, "n_layer": 1, "n_head": 4},
}
MODELS = tuple(OPTIONS)


@dataclass(frozen=True)
class Timing:
    """One measurement: seconds of one training step, and of one token of it."""

    model: str
    length: int
    seconds: float

    @property
    def per_token(self) -> float:
        """Seconds for each of the step's tokens."""
        return self.seconds / (self.length * ROWS)


def waits(model: str, length: int) -> int:
    """How many steps of a forward pass must wait for the one before: one a token, or one a layer.

    >>> waits("rnn", 512), waits("gpt", 512)
    (512, 1)
    """
    return OPTIONS[model]["n_layer"] * (1 if able(model, "attention") else length)


def time_steps(
    lengths: Sequence[int] = LENGTHS, models: Sequence[str] = MODELS, repeats: int = REPEATS
) -> Iterator[Timing]:
    """Yield the time of a forward and a backward pass for each length and model, shortest first."""
    import torch

    from llmviz.models import build

    for length in lengths:
        ids = torch.randint(0, VOCABULARY, (ROWS, length + 1))
        for name in models:
            settings = {"vocab_size": VOCABULARY, "context_length": length, **OPTIONS[name]}
            model = build(name, settings)
            taken = []
            for _ in range(repeats):
                begun = time.perf_counter()
                model(ids[:, :-1], ids[:, 1:])[1].backward()
                taken.append(time.perf_counter() - begun)
            yield Timing(name, length, min(taken))
