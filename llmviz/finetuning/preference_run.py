"""Direct preference optimisation of the story model, watched: margin, distance, texts.

A generator for a process of its own. P pairs, V vocabulary.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from llmviz.finetuning.adapted import pairs_of
from llmviz.finetuning.continuations import continuation
from llmviz.finetuning.preferences import RULES, Pair
from llmviz.finetuning.preferences import pairs as pairs_of_rule

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.finetuning.dpo import PairData, Preference
    from llmviz.models.base import LanguageModel

SHOWN, SHOWN_SEED = 5, 1  # pairs that are looked at; none of them is trained on

HELD_OUT = 16  # pairs that nothing is learned from
BATCH = 4  # pairs an update
MOST_PAIRS = 64  # that are learned from; a short run needs fewer
PROMPTS = 2  # stories that the model ends
OWN_TEXTS = 8  # endings that it writes by chance, to measure how far it has moved
LOOKS = 8  # at most, besides the first, at a run of more than 32 updates
FEWEST_BETWEEN = 4  # updates between two looks
WRITTEN = 40  # tokens of an ending at most
ROUNDING = 1e-4  # of a margin: the logarithms of a text are sums of float32


@dataclass(frozen=True)
class Ending:
    """What the model writes behind a story, at temperature 0, and its score by the rule."""

    story: str
    text: str
    score: float


@dataclass(frozen=True)
class Look:
    """The model after so many updates, on held-out pairs."""

    step: int
    loss: float  # nats per pair
    margin: float  # β times how much more the better text has gained, the mean
    preferred: float  # share of the pairs whose margin is above 0, by more than rounding
    divergence: float  # KL(π ‖ π₀) on endings that π wrote by chance, nats per token
    endings: tuple[Ending, ...]
    seconds: float  # in updates so far
    logs: tuple[tuple[float, float], ...] = ()  # ln P of the pairs that are looked at, better first


@dataclass(frozen=True)
class Learned:
    """The adapter that a run ended with: path of each matrix -> A (r, C) and B (R, r)."""

    pairs: dict[str, tuple[np.ndarray, np.ndarray]]


def pairs_for(updates: int) -> int:
    """Return how many pairs a run of so many updates learns from."""
    return min(MOST_PAIRS, BATCH * updates)


def looks_every(updates: int) -> int:
    """Return how many updates lie between two looks at a run."""
    return max(FEWEST_BETWEEN, math.ceil(updates / LOOKS))


@cache
def shown_pairs(rule: str) -> tuple[Pair, ...]:
    """Return the pairs that are looked at."""
    return tuple(pairs_of_rule(rule, SHOWN, SHOWN_SEED))


def preference_run(
    rule: str,
    steps: int,
    beta: float,
    rank: int = 8,
    rate: float = 5e-4,
    base: str = "",
    seed: int = 0,
) -> Iterator[Look | Learned]:
    """Train an adapter on pairs of a rule; yield looks at the model, from step 0, and the adapter.

    rate: the highest learning rate; at four times the default the model forgets how to write within
      ten updates. Raises ValueError for an unknown rule, a number that is out
    of range, or a base that is not there.
    """
    from llmviz.finetuning.dpo import Preference, prepare_pairs
    from llmviz.finetuning.plan import BASE, TuningPlan
    from llmviz.nn.lora import add_adapter
    from llmviz.nn.lora_config import LoraConfig
    from llmviz.pretrained import load_bundled
    from llmviz.training import train

    model, tokenizer, _ = load_bundled(base or BASE)
    pairs = pairs_for(steps)
    drawn = pairs_of_rule(rule, pairs + HELD_OUT, seed)
    add_adapter(model, LoraConfig(rank, 2.0 * rank), seed=seed)
    data = prepare_pairs(model, tokenizer, drawn[:pairs], drawn[pairs:], seed)
    module = Preference(model, beta)
    own_stories = [pair.story for pair in drawn[pairs:][:OWN_TEXTS]]
    stories = own_stories[:PROMPTS]
    score = RULES[rule]

    def look(step: int, seconds: float) -> Look:
        numbers = (*_measured(module, data), _moved(model, tokenizer, own_stories, seed))
        endings = (_ending(model, tokenizer, story, score) for story in stories)
        logs = pair_logs(model, tokenizer, shown_pairs(rule)).tolist()
        return Look(step, *numbers, tuple(endings), seconds, tuple(map(tuple, logs)))

    yield look(0, 0.0)
    settings: dict[str, Any] = {
        "steps": steps,
        "batch_size": BATCH,
        "learning_rate": rate,
        "min_lr": rate / 100,
        "warmup_steps": max(1, steps // 10),
        "log_every": looks_every(steps),
        "eval_every": 0,
        "eval_batches": 1,
        "device": "cpu",
        "threads": 1,
        "seed": seed,
    }
    seconds, done = 0.0, 0
    for record in train(module, data, dataclasses.replace(TuningPlan().train, **settings)):
        seconds += BATCH * (record.step - done) / record.tokens_per_second  # a "token" is a pair
        done = record.step
        yield look(record.step, seconds)
    yield Learned(pairs_of(model))


def pair_logs(model: LanguageModel, tokenizer: Any, pairs: Sequence[Pair]) -> np.ndarray:
    """Return ln P of the endings of pairs (P, 2), the better first, each behind its story.

    In nats, the end of the text counted. Raises ValueError for a story with an ending that is
    longer than the context.
    """
    import torch

    from llmviz.finetuning.dpo import pair_tokens, text_log_probs
    from llmviz.finetuning.masked import masked_batch
    from llmviz.training.data import end_id

    rows = [text for pair in pairs for text in pair_tokens(tokenizer, pair)]
    longest = max(map(len, rows)) - 1
    if longest > model.context_length:
        raise ValueError(
            f"a story with its ending has {longest} tokens; the model reads "
            f"{model.context_length} at most"
        )
    inputs, targets = masked_batch(rows, end_id(tokenizer))
    with torch.inference_mode():
        logits = model(inputs)[0]
    return text_log_probs(logits, targets).double().view(-1, 2).numpy()


def _measured(module: Preference, data: PairData) -> tuple[float, float, float]:
    """Loss, mean margin and share that is preferred, on the held-out pairs."""
    import torch

    module.eval()
    with torch.no_grad():
        found = [module.steps(*batch) for batch in data.validation_batches(BATCH, 0)]
    margin = torch.cat([part.margin for part in found])
    loss = float(torch.cat([part.nats for part in found]).mean())
    return loss, float(margin.mean()), float((margin > ROUNDING).double().mean())


def _moved(model: Any, tokenizer: Any, stories: Sequence[str], seed: int) -> float:
    """KL(π ‖ π₀) in nats per token, the mean over endings that π writes at temperature 1."""
    import torch

    from llmviz.finetuning.dpo import divergence
    from llmviz.nn.lora import adapter_names, use_adapter
    from llmviz.sampling.generation import NextLogits
    from llmviz.training.data import end_id

    model.eval()
    end, chance = end_id(tokenizer), torch.Generator().manual_seed(seed)
    (name,) = adapter_names(model)
    written: list[list[Tensor]] = []
    for story in stories:
        ids = tokenizer.encode_from_start(story)
        start, next_logits = len(ids), NextLogits(model)
        most = min(start + WRITTEN, model.context_length + 1)  # the last one is not read
        while len(ids) < most and (len(ids) == start or ids[-1] != end):
            p = next_logits(ids).softmax(-1)
            ids.append(int(p.multinomial(1, generator=chance)))
        both = []
        for adapter in (None, name):
            use_adapter(model, adapter)
            with torch.no_grad():
                both.append(model(torch.tensor([ids[:-1]]))[0][0, start - 1 :])
        written.append(both)
    base, own = (torch.cat(part) for part in zip(*written, strict=True))  # (places, V)
    return float(divergence(own, base, torch.zeros(len(own), dtype=torch.long)))


def _ending(model: Any, tokenizer: Any, story: str, score: Any) -> Ending:
    text = continuation(model.eval(), tokenizer, story, WRITTEN).text.strip()
    return Ending(story, text, float(score(text, story)))
