"""How long a step takes: measured on this machine, or estimated from earlier measurements."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from llmviz.models.catalogue import able
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.errors import Diverged

if TYPE_CHECKING:
    from torch import nn

    from llmviz.training.data import Batches

TIMED_STEPS = 3
COMPILING, WAKING = 2, 1  # first steps that also compile the model, or wake an accelerator
LONG = 2.0  # seconds after which no further step is timed
SIXTH = 6  # products for a weight and a token: two forward, four back
ATTENTION = 12  # for a layer, a channel and a pair of tokens, likewise


@dataclass(frozen=True)
class Throughput:
    """A step whose time is known: of which kind of plan, how many products it makes, seconds."""

    kind: tuple[str, str, str]
    work: float
    seconds: float


def kind_of(plan: Plan) -> tuple[str, str, str]:
    """What two plans must share so that the time of one says something about the other."""
    return plan.model, plan.train.device, plan.train.dtype


def work(plan: Plan, parameters: int) -> float:
    """About how many products a step makes; times of one kind of model go with it.

    parameters: of the model, embeddings counted. Small models spend as long on all that is not a
    product, which this leaves out.
    Reference: Kaplan et al. 2020, section 2.1, with the backward pass twice the forward one.
    """
    tokens = plan.train.batch_size * plan.context_length
    options = plan.model_options
    channels = int(options.get("n_embd", 0)) if able(plan.model, "attention") else 0
    pairs = int(options.get("n_layer", 0)) * channels * plan.context_length
    return tokens * (SIXTH * parameters + ATTENTION * pairs)


def predict_seconds(plan: Plan, parameters: int, known: Iterable[Throughput]) -> float | None:
    """Seconds of a step from the known ones: the nearest in work of the same kind, in proportion.

    None where nothing of the kind was measured.
    """
    mine, wanted = kind_of(plan), work(plan, parameters)
    alike = [pace for pace in known if pace.kind == mine and pace.work > 0]
    if not alike:
        return None
    nearest = min(alike, key=lambda pace: max(pace.work / wanted, wanted / pace.work))
    return nearest.seconds * wanted / nearest.work


def step_seconds(
    plan: Plan,
    vocab_size: int | None = None,
    folder: Path | None = None,
    ended: Callable[[], bool] = lambda: False,
) -> float | None:
    """Take a few steps of a plan and return the seconds of the fastest; nothing is written.

    vocab_size: leave the plan's corpus alone and let the model read ids in a row; how long it
    takes does not depend on which. ended: asked before each step; None if it is so at once.
    Raises ValueError as `prepare` does.
    """
    from llmviz.training.plan import prepare

    if vocab_size is None:
        run = prepare(plan, folder=folder)
        model, data = run.model, run.data
    else:
        model, data = _stand_in(plan, vocab_size)
    found = fastest_step(model, data, plan.train, ended)
    return None if found is None else found.seconds


class TimedStep(NamedTuple):
    """How long a step took, and how many targets it had."""

    seconds: float
    tokens: int


def fastest_step(
    model: nn.Module,
    data: Batches,
    config: TrainConfig,
    ended: Callable[[], bool] = lambda: False,
) -> TimedStep | None:
    """Take a few steps of a copy of a model, and return the fastest; the model stays as it is.

    Steps that compile the model, or are the first on an accelerator, do not count.
    ended: asked before each step; None if it is so at once, or if the very first step fails.
    """
    from llmviz.training.device import choose_device, compiles
    from llmviz.training.loop import train

    device = choose_device(config.device)
    passed = COMPILING if compiles(config, device) else WAKING * (device.type != "cpu")
    # A record for each step, and none that measures, writes or ends anything.
    config = dataclasses.replace(
        config,
        steps=max(config.steps, passed + TIMED_STEPS + 1),
        log_every=1,
        eval_every=0,
        patience=0,
        sample_every=0,
    )
    records = train(copy.deepcopy(model), data, config)
    timed: list[TimedStep] = []
    with contextlib.closing(records):
        before = 0
        for number in range(passed + TIMED_STEPS):
            if ended() or sum(step.seconds for step in timed) > LONG:
                break
            begun = time.perf_counter()
            try:
                record = next(records)
            except Diverged:  # the run itself will say it
                break
            if number >= passed:
                timed.append(TimedStep(time.perf_counter() - begun, record.tokens - before))
            before = record.tokens
    return min(timed, default=None)


def _stand_in(plan: Plan, vocab_size: int):
    """The plan's model and ids for it to read, as many as it needs."""
    import torch

    from llmviz.models import build
    from llmviz.training.data import Stream, TrainData
    from llmviz.training.masked import MaskedData
    from llmviz.training.word_pairs import WordPairs

    if not any(able(plan.model, task) for task in ("next_token", "hidden_words", "word_vectors")):
        raise ValueError(f"a model that translates reads no plain ids; got {plan.model!r}")
    torch.manual_seed(plan.train.seed)
    row = [1 + number % max(1, vocab_size - 1) for number in range(4 * plan.context_length)]
    streams = Stream.join([row, row], 0), Stream.join([row], 0)
    text = TrainData(*streams, plan.context_length, vocab_size)
    options = {"vocab_size": vocab_size, **plan.model_options}
    if able(plan.model, "word_vectors"):
        model = build(plan.model, options)
        return model, WordPairs(text, 0, model.config)
    model = build(plan.model, {"context_length": plan.context_length, **options})
    if able(plan.model, "hidden_words"):
        padded = TrainData(*streams, plan.context_length, vocab_size, "padded")
        return model, MaskedData(padded, model.config.mask_id, model.config.pad_id)
    return model, text


def throughput_of(plan: Plan, folder: Path) -> Throughput | None:
    """How fast a run has gone at its newest point; None before there is one."""
    from llmviz.training.reading import last_record, read_description

    try:
        parameters, last = read_description(folder)["parameters"], last_record(folder) or {}
    except (ValueError, KeyError):  # it is only beginning, or was just moved
        return None
    rate, steps = last.get("tokens_per_second") or 0, last.get("step") or 0
    if not rate > 0 or not steps:
        return None
    seconds = last["tokens"] / steps / rate  # what a step counts: short rows, or pairs of words
    return Throughput(kind_of(plan), work(plan, parameters), seconds)
