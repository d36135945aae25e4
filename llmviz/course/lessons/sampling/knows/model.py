"""What a model gives to the right words of a probe, at every temperature.

Shapes: S temperatures, M tokens of a continuation, V vocabulary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.corpus import probes
from llmviz.corpus.exercises import holds_two_things
from llmviz.corpus.probes import Probe, probe_sets
from llmviz.sampling import softmax
from llmviz.sampling.steps import apply_temperature

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel


EXAMPLES = 8  # probes of each rule
STORIES = 40  # that a short cut answers, and that it does not
TEMPERATURES = tuple(round(0.1 * i, 1) for i in range(0, 31))


def examples(kind: str) -> list[Probe]:
    return _examples()[kind]


@cache
def _examples() -> dict[str, list[Probe]]:
    return probe_sets(count=EXAMPLES)


def two_things(probe: Probe) -> bool:
    """Whether two things were found in a probe's story, so that one must ask which."""
    return holds_two_things(probe.prompt)


def both_named(probe: Probe) -> bool:
    """Whether the wrong words of a probe stand in its story, as the right ones do."""
    return re.search(rf"{re.escape(probe.wrong)}\b", probe.prompt) is not None


SHORT_CUTS = {"possession": two_things, "places": both_named}  # rule -> where none leads there


@cache
def told_apart(kind: str) -> tuple[list[Probe], list[Probe]]:
    """Return STORIES probes of a rule that a short cut answers, and as many that it does not."""
    drawn = probes(kind, 20 * STORIES)
    hard = [probe for probe in drawn if SHORT_CUTS[kind](probe)]
    easy = [probe for probe in drawn if not SHORT_CUTS[kind](probe)]
    return easy[:STORIES], hard[:STORIES]


def continuation_logits(
    model: LanguageModel, tokenizer: Any, pairs: Sequence[tuple[str, str]]
) -> list[tuple[np.ndarray, list[int]]]:
    """Return for each (prompt, continuation) the logits (M, V) before its tokens, and the tokens.

    All go through the model at once, padded behind their ends, where a causal model cannot look.
    What is longer than the context is read in one window that ends with the continuation.
    """
    import torch

    rows, targets = [], []
    for prompt, continuation in pairs:
        before = tokenizer.encode_from_start(prompt)
        whole = tokenizer.encode_from_start(prompt + continuation)
        if whole[: len(before)] != before:  # the cut goes through a token
            whole = [*before, *tokenizer.encode(continuation)]
        window = whole[-(model.context_length + 1) :]
        rows.append(window[:-1])
        targets.append(whole[len(before) :])
    idx = torch.zeros((len(rows), max(map(len, rows))), dtype=torch.int64)
    for at, row in enumerate(rows):
        idx[at, : len(row)] = torch.tensor(row)
    with torch.inference_mode():
        logits = model(idx)[0]
    return [
        (logits[at, len(row) - len(wanted) : len(row)].double().numpy(), wanted)
        for at, (row, wanted) in enumerate(zip(rows, targets, strict=True))
    ]


def chance(logits: np.ndarray, tokens: Sequence[int], temperature: float) -> float:
    """Return the probability of writing some tokens: the product of each one's own at T."""
    return math.prod(
        float(softmax(apply_temperature(row, temperature))[token])
        for row, token in zip(logits, tokens, strict=True)
    )


def chances(
    model: LanguageModel,
    tokenizer: Any,
    pairs: Sequence[tuple[str, str]],
    temperatures: Sequence[float] = TEMPERATURES,
) -> np.ndarray:
    """Return the probability (number asked, S) of each continuation at each temperature."""
    return np.array(
        [
            [chance(logits, tokens, temperature) for temperature in temperatures]
            for logits, tokens in continuation_logits(model, tokenizer, pairs)
        ]
    )


def of_kind(model: LanguageModel, tokenizer: Any, kind: str) -> np.ndarray:
    """Return the chances of the right words of a rule's probes, (EXAMPLES, S)."""
    pairs = [(example.prompt, example.right) for example in examples(kind)]
    return chances(model, tokenizer, pairs)
