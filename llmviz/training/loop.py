"""The training loop, as a generator: pull to train, stop pulling to pause, close to stop."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from llmviz.nn.finite import wrong_tensor
from llmviz.training import distributed, preparation
from llmviz.training.best import Lowest
from llmviz.training.checkpoints import Checkpoint, versions
from llmviz.training.config import TrainConfig
from llmviz.training.data import Batches
from llmviz.training.device import Compute, thread_count
from llmviz.training.errors import Diverged
from llmviz.training.loss_scale import LossScale
from llmviz.training.memory import hand_back_freed_memory
from llmviz.training.schedule import learning_rate_at
from llmviz.training.train_record import TrainRecord

# A loss above this many nats is a probability too small for a float64: the run has exploded.
EXPLODED = 745.0

Save = Callable[[Checkpoint, bool], None]
Sample = Callable[[Any], str]  # given the model


def train(
    model: nn.Module,
    data: Batches,
    config: TrainConfig,
    *,
    resume: Checkpoint | None = None,
    save: Save | None = None,
    sample: Sample | None = None,
    stop: Callable[[], bool] | None = None,
) -> Generator[TrainRecord, None, None]:
    """Train `model` in place and yield a record every `log_every` steps.

    data: its batches are the model's arguments, targets last.
    resume: a checkpoint of the same model; the run goes on from there, on a CPU bit for bit, if
      threads, precision and versions are as they were (the first record's notes say if not).
    save: given each checkpoint that is due and whether it is to be kept; also when the generator
      is closed, and after the last step.
    sample: makes a text for the records that are due one.
    stop: asked after each step, in every process; the run ends, saved, once one says yes.

    Between records the weights are those after the step of the record, and no state of the run is
    outside the model and this generator. Dropout draws from torch's global generator, set from
    (seed, step) for each step and put back.

    Raises ValueError at the call, before anything is trained, for data that does not fit the model,
    a device that is not there, or a checkpoint of another model; and Diverged, while training,
    where the loss is not a finite number any more.
    """
    preparation.check_fit(model, data, config)
    compute = preparation.settled(model, data, config, resume)
    run = _Run(model, data, config, compute, resume)

    def records() -> Generator[TrainRecord, None, None]:
        with thread_count(compute.threads):
            yield from run.records(save, sample, stop)

    return records()


class _Run:
    """The moving parts of one run."""

    def __init__(
        self,
        model: nn.Module,
        data: Batches,
        config: TrainConfig,
        compute: Compute,
        resume: Checkpoint | None,
    ) -> None:
        self.model, self.data, self.config, self.compute = model, data, config, compute
        self.world = distributed.current()
        model.to(compute.device)
        preparation.set_recompute(model, config.recompute)
        preparation.set_label_smoothing(model, config.label_smoothing)
        self.spread: Any = distributed.spread(model, shard=config.shard)
        self.called: Any = torch.compile(self.spread) if compute.compiled else self.spread
        self.names: dict[Tensor, str] = {
            parameter: name for name, parameter in model.named_parameters()
        }
        self.optimizer = preparation.make_optimizer(model, config)
        self.scale = LossScale.of(config, compute.dtype)
        self.lowest = Lowest.of(config)
        self.step, self.tokens, self.seconds = 0, 0, 0.0
        self.last_finite: tuple[int | None, float | None] = (None, None)
        self.notes: tuple[str, ...] = ()
        if resume is not None:
            distributed.scatter(
                model,
                self.optimizer,
                self.names,
                resume.model,
                resume.optimizer,
                resume.source,
                shard=config.shard,
            )
            self.step, self.tokens, self.seconds = resume.step, resume.tokens, resume.seconds
            if self.scale is not None and resume.loss_scale:
                self.scale.restore(resume.loss_scale)
            if self.lowest is not None and resume.best:
                self.lowest.restore(resume.best)
            self.notes = resume.notes + _differences(resume.environment, self.environment())

    def environment(self) -> dict[str, object]:
        """What the exact numbers depend on, besides settings and data."""
        return {
            **versions(),
            "device": self.compute.device.type,
            "dtype": self.compute.dtype_name,
            "threads": self.compute.threads,
            "compiled": self.compute.compiled,
            "processes": self.world.size,
        }

    def records(
        self, save: Save | None, sample: Sample | None, stop: Callable[[], bool] | None
    ) -> Iterator[TrainRecord]:
        config, saved_at = self.config, self.step
        losses, tokens, seconds = [], 0, 0.0

        def checkpoint(keep: bool = False) -> None:
            nonlocal saved_at
            if save is not None and saved_at != self.step:
                self._save(save, keep)
                saved_at = self.step

        while self.step < config.steps and not self._waited_enough():
            begun = time.perf_counter()
            loss, count, norm, lr, stopping = self._update(stop)
            elapsed = time.perf_counter() - begun
            losses.append(loss)
            tokens += count
            seconds += elapsed
            last = stopping or self.step == config.steps
            evaluates = last or _due(self.step, config.eval_every)
            validation = self.validation_loss() if evaluates else None
            better = validation is not None and self._is_lowest(validation)
            if self._waited_enough() and not last:
                assert self.lowest is not None
                self.notes += (self.lowest.note(),)
                last = True
            samples = sample is not None and _due(self.step, config.sample_every)
            text = sample(self.model) if samples and sample is not None else None
            self.seconds += time.perf_counter() - begun
            keep = _due(self.step, config.snapshot_every)
            if last or validation is not None or text or _due(self.step, config.log_every):
                record = TrainRecord(
                    step=self.step,
                    tokens=self.tokens,
                    train_loss=sum(losses) / len(losses),
                    validation_loss=validation,
                    lr=lr,
                    grad_norm=norm,
                    tokens_per_second=tokens / seconds,
                    seconds=self.seconds,
                    sample=text,
                    notes=self.notes,
                )
                losses, tokens, seconds, self.notes = [], 0, 0.0, ()
                try:
                    yield record
                except GeneratorExit:
                    checkpoint(keep)
                    raise
            # After the record: a checkpoint whose record was never written would resume past it.
            if last or keep or better or _due(self.step, config.checkpoint_every):
                checkpoint(keep)
                hand_back_freed_memory()
            if last:
                return

    def _update(self, stop: Callable[[], bool] | None) -> tuple[float, int, float, float, bool]:
        """One step: batch, forward, loss, backward, clip, update.

        In float16 a gradient may be too large while the loss is a number: then there is no update,
        the norm is given as 0, and the next step has a smaller loss scale.
        """
        config, step = self.config, self.step + 1
        batch = self.data.batch(step, config.batch_size)
        count = self.data.count(batch)
        mine = self.world.part(batch)
        pieces = zip(*(tensor.tensor_split(config.accumulate) for tensor in mine), strict=True)
        lr = learning_rate_at(step, config)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.zero_grad(set_to_none=True)
        if not self.model.training:
            self.called.train()
        total = 0.0
        with _randomness(self.compute.device, config.seed, step, self.world.rank):
            for number, piece in enumerate(pieces):
                share = self.data.count(piece) / count
                total += self._backward(piece, share, number == config.accumulate - 1)
        stopping = float(stop()) if stop is not None else 0.0
        total, stopping = self.world.add([total, stopping], self.compute.device)
        if not math.isfinite(total):
            raise self._diverged(step, lr, "the loss is not finite")
        if total > EXPLODED:
            raise self._diverged(step, lr, f"the loss is {total:.1e} nats per token")
        if self.scale is not None:
            self.scale.unscale([weight.grad for weight in self.names if weight.grad is not None])
        grad_norm = self._clip()
        if math.isfinite(grad_norm):
            self.optimizer.step()
            if self.scale is not None:
                self.scale.update(finite=True)
        elif self.scale is not None and self.scale.can_fall:
            self.scale.update(finite=False)
            self.notes += (self.scale.note(step),)
            grad_norm = 0.0
        else:
            raise self._diverged(step, lr, "the gradient is not finite")
        self.step, self.last_finite = step, (step, total)
        self.tokens += count
        return total, count, grad_norm, lr, stopping > 0

    def _clip(self) -> float:
        """Cut the gradient to the longest allowed; return how long it was.

        As torch's `clip_grad_norm_`, but gradients that are short enough are not multiplied by 1.
        """
        parameters = list(self.names)
        many = True if not self.config.shard else None  # in one call; not for sharded tensors
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        norm = nn.utils.get_total_norm(gradients, foreach=many)
        length = float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)
        limit = self.config.grad_clip
        # One that is not finite stays as it is, so that it can be said which part is not.
        if limit and limit < length + 1e-6 < math.inf:  # torch adds so much before it divides
            nn.utils.clip_grads_with_norm_(parameters, limit, norm, foreach=many)
        return length

    def _backward(self, piece: tuple[Tensor, ...], share: float, last: bool) -> float:
        """Add one micro-batch's part of the gradient; return its part of the loss, in nats."""
        waits = last or not hasattr(self.spread, "no_sync")
        if not share:  # nothing in it is scored, and the mean of nothing is no number
            piece = (*piece[:-1], piece[-1].clamp(min=0))
        with contextlib.nullcontext() if waits else self.spread.no_sync():
            with self.compute.autocast():
                loss = self.called(*(x.to(self.compute.device) for x in piece))[1] * share
            # the processes' gradients are averaged, and this is a part of a sum
            factor = self.world.size * (self.scale.scale if self.scale is not None else 1)
            (loss * factor).backward()
        return float(loss.detach())

    def validation_loss(self) -> float:
        """Mean nats per token over the same validation batches each time."""
        config = self.config
        self.called.eval()
        total, count = 0.0, 0
        with torch.no_grad(), self.compute.autocast():
            for batch in self.data.validation_batches(config.batch_size, config.eval_batches):
                targets = self.data.count(batch)
                loss = self.called(*(x.to(self.compute.device) for x in batch))[1]
                total += float(loss) * targets
                count += targets
        loss = total / count
        if not math.isfinite(loss):
            lr = learning_rate_at(self.step, config)
            raise self._diverged(self.step, lr, "the validation loss is not finite")
        return loss

    def _is_lowest(self, validation: float) -> bool:
        """Keep a validation loss in mind, if the run does; whether it is the lowest so far.

        On several processes the loss of the leading one counts.
        """
        if self.lowest is None:
            return False
        loss = validation if self.world.leads else 0.0
        return self.lowest.hears(self.step, self.world.add([loss], self.compute.device)[0])

    def _waited_enough(self) -> bool:
        return self.lowest is not None and self.lowest.is_over

    def _diverged(self, step: int, lr: float, what: str) -> Diverged:
        """What went wrong, with the first weight that is no number, or else the first gradient.

        Of a model that is spread over processes each one holds a part, which is not searched.
        """
        tensor = ""
        if not self.config.shard:
            named = {name: weight for weight, name in self.names.items()}
            gradients = ((n, weight.grad) for n, weight in named.items() if weight.grad is not None)
            tensor = wrong_tensor(named.items())
            if not tensor and (gradient := wrong_tensor(gradients, sys.float_info.max)):
                tensor = f"the gradient of {gradient}"
        return Diverged(step, *self.last_finite, lr, what, tensor)

    def _save(self, save: Save, keep: bool) -> None:
        weights, state = distributed.gather(
            self.model, self.optimizer, self.names, shard=self.config.shard
        )
        wrong = wrong_tensor(weights.items()) if self.world.leads else ""
        (found,) = self.world.add([float(bool(wrong))], self.compute.device)
        if found:  # in all processes: what was saved before stays the last checkpoint
            lr = learning_rate_at(self.step, self.config)
            what = "a weight is not finite or too large"
            raise Diverged(self.step, *self.last_finite, lr, what, wrong)
        if self.world.leads:
            settings = dataclasses.replace(
                self.config, dtype=self.compute.dtype_name, threads=self.compute.threads
            ).to_dict()
            save(
                Checkpoint(
                    self.step,
                    self.tokens,
                    self.seconds,
                    weights,
                    state,
                    settings,
                    self.environment(),
                    loss_scale=self.scale.state() if self.scale is not None else {},
                    best=self.lowest.state() if self.lowest is not None else {},
                ),
                keep,
            )
        self.world.wait()


def _due(step: int, every: int) -> bool:
    return every > 0 and step % every == 0


def _differences(before: dict[str, object], now: dict[str, object]) -> tuple[str, ...]:
    """What is not as it was when the checkpoint was written, one line each."""
    return tuple(
        f"resumed with {key} {now[key]}, was {before[key]}: the last digits may differ"
        for key in before
        if key in now and before[key] != now[key]
    )


@contextlib.contextmanager
def _randomness(device: torch.device, *key: int) -> Iterator[None]:
    """Let torch's global generators be a function of `key`, and put them back."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        number = int(np.random.SeedSequence(key).generate_state(1)[0])
        if device.type == "cpu":
            torch.default_generator.manual_seed(number)
        else:  # every device's; that asks for each kind of them, which takes a while in each step
            torch.manual_seed(number)
        yield
