"""What was measured of models with experts on the texts of four villages.

`python -m experiments make experts` trains and measures them again and writes
`data/experiments/experts.json`. Reading it needs no torch.

S moments of a training, E experts, W words of a text, K villages, V words there are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from llmviz import records
from llmviz.corpus.villages import SLOTS, STOP, TOKENS, VILLAGES, WORDS, ids_of, texts
from llmviz.course.lessons.next.experts import STEPS
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.interpretability.routing import router_scores, sent_tokens, shared_bits
from llmviz.training.small_models import descend

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel

FILE = "experts.json"
COMMAND = "python -m experiments make experts"
SEEDS = (0, 1, 2)
EXPERTS = 8  # E
KINDS = ("free", "even", "dense")  # without and with a balance loss, and one network for all
ROUTED = KINDS[:2]
BALANCE = 0.05  # what the balance loss counts, beside the loss
READ = (*(word for slot in SLOTS for word in slot), STOP)  # what is sent: not the villages' names
TEXTS, BATCH, WARM_UP, RATE = 20_000, 64, 100, 3e-3  # of a training
SIZES = {"n_layer": 1, "n_head": 2, "n_embd": 32, "hidden_size": 16, "dropout": 0.0}
FEW_NEW = 500  # texts that are read each time, of a training on the page


@dataclass(frozen=True)
class Run:
    """A training. above (S,): its loss on new texts above the grammar's own, nats per token.

    villages (S, E, K), words (S, E, V): how many words of new texts each expert got, by village and
    by word. null: bits that the expert tells of the village at the end where villages are dealt
    anew to the texts. Of one network for all there are none.
    """

    above: list[float]
    villages: list[list[list[int]]]
    words: list[list[list[int]]]
    null: float


@dataclass(frozen=True)
class Recorded:
    """All that was measured.

    parameters: of a model of each kind. texts: that were read each time. runs: by kind, one for
    each of SEEDS. shown: by village, the words (W,) of a text. scores: by kind and village, what
    the router of the first seed's model said to those at the end (W, E).
    """

    parameters: dict[str, int]
    texts: int
    runs: dict[str, list[Run]]
    shown: dict[str, list[str]]
    scores: dict[str, dict[str, list[list[float]]]]

    def order(self, kind: str, seed: int = 0) -> np.ndarray:
        """Return the experts of a model, the busiest at the end first (E,)."""
        return np.argsort(-np.array(self.runs[kind][seed].villages[-1]).sum(1), kind="stable")

    def counts(self, kind: str, by: str, at: int, seed: int = 0) -> np.ndarray:
        """Return how many words experts got, in order, by "villages" (E, K) or "words" (E, V)."""
        return np.array(getattr(self.runs[kind][seed], by)[at])[self.order(kind, seed)]

    def bits(self, kind: str, by: str) -> list[float]:
        """Return what the expert tells of the village or the word at the end, for each seed."""
        return [shared_bits(self.counts(kind, by, -1, seed)) for seed in range(len(SEEDS))]


@cache
def recorded(folder: Path = EXPERIMENT_FOLDER) -> Recorded:
    """Return the bundled results. Raises ValueError where the file is missing or damaged."""
    with records.Recorded(folder / FILE, COMMAND) as content:
        found = records.typed(content, Recorded)
        for kind in KINDS:
            for run in found.runs[kind]:
                tables = 0 if kind == "dense" else len(STEPS)
                sizes = {"above": len(STEPS), "villages": tables, "words": tables}
                for name, size in sizes.items():
                    if len(getattr(run, name)) != size:
                        raise TypeError(f"{name} of a {kind} run need {size} moments")
            if len(found.runs[kind]) != len(SEEDS):
                raise TypeError("a seed is missing")
        return found


def new_model(kind: str, seed: int) -> LanguageModel:
    """Return a model of KINDS before its training; each word goes to one expert."""
    import torch

    from llmviz.models import build
    from llmviz.nn.experts import Experts

    balance = BALANCE if kind == "even" else 0.0
    routing = {"n_expert": EXPERTS, "experts_per_token": 1, "balance": balance}
    config = {"vocab_size": len(WORDS), "context_length": TOKENS, **SIZES}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build("gpt", config | (routing if kind in ROUTED else {}))
    for module in model.modules():
        if isinstance(module, Experts):
            module.normalised = False
    return model


def learn(kind: str, seed: int, steps: int = STEPS[-1]) -> Iterator[tuple[int, LanguageModel]]:
    """Train a model for some of the steps of its plan; yield it at each of STEPS on the way."""
    import torch

    learned = torch.from_numpy(ids_of(texts(TEXTS, 1)))
    model, generator = new_model(kind, seed), torch.Generator().manual_seed(seed)

    def loss_at(_: int) -> Tensor:
        batch = learned[torch.randint(len(learned), (BATCH,), generator=generator)]
        return cast("Tensor", model(batch[:, :-1], batch[:, 1:])[1])

    plan: dict[str, Any] = {"of": STEPS[-1], "rate": RATE, "warmup": WARM_UP, "floor": 0.01}
    yield 0, model.eval()
    training = descend(model, loss_at, steps, **plan, clip=math.inf, betas=(0.9, 0.99))
    for done, _ in enumerate(training, 1):
        if done in STEPS:
            yield done, model.eval()
            model.train()


class Sent(NamedTuple):
    """How many words experts got at a step, by village (E, K) and by word (E, V)."""

    step: int
    villages: np.ndarray
    words: np.ndarray


def given(model: LanguageModel, written: Sequence[Sequence[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Return how many words of texts each expert gets, by text (N, E) and by word (E, V).

    The name of the village itself does not count.
    """
    import torch

    ids = ids_of(written)
    scores = router_scores(model, torch.from_numpy(ids))[:, 1:]
    return sent_tokens(scores, ids[:, 1:], len(READ))


def of_villages(by_text: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the counts of texts (N, E), each of a village, by village (E, K)."""
    here = np.array(names)
    return np.stack([by_text[here == village].sum(0) for village in VILLAGES], axis=1)


def practise(kind: str, seed: int) -> Iterator[Sent]:
    """Train a model, and yield who gets the words on the way."""
    written = texts(FEW_NEW, 2)
    for step, model in learn(kind, seed):
        by_text, by_word = given(model, written)
        yield Sent(step, of_villages(by_text, [words[0] for words in written]), by_word)


def routed(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return for scores (W, E) their softmax (W, E), the part of the words that each expert gets
    (E,), and the balance loss."""
    import torch

    from llmviz.nn.experts import balance_loss, route

    steps = route(torch.from_numpy(scores), 1, normalised=False)
    sent = np.bincount(steps.experts.flatten().numpy(), minlength=EXPERTS) / len(scores)
    return steps.probabilities.numpy(), sent, float(balance_loss(steps))


def printed(scores: np.ndarray) -> str:
    """Return what the chapter's snippet prints: each word's expert, and the balance loss."""
    shares, _, price = routed(scores)
    return f"{(shares.argmax(1) + 1).tolist()}\n{round(price, 2)}"
