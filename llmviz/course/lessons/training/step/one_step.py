"""One step of training in the open: a batch of the learner's text, and all that becomes of it.

B rows of a batch, T tokens a row, C width, V vocabulary. The model is a small GPT on the characters
of the text, with a head of its own, so that the head's logits, loss and gradient fit on a screen.
The update is that of `llmviz.training.loop`, number for number; a test holds them equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from llmviz.training.config import ON_ONE_CORE, TrainConfig

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from llmviz.models import GPT
    from llmviz.models.base import LanguageModel
    from llmviz.tokenizers import Tokenizer
    from llmviz.training.data import TrainData

READ = 2_000  # characters of the learner's text that the model is made from
STEPS = 40  # of the whole run: few, so that its schedule rises and falls within sight
RATES = {"sgd": 0.5, "adamw": 0.02}  # the highest learning rate, by optimizer
HEAD = "head.weight"  # the matrix whose gradient is followed, (V, C)
SAMPLE = 40  # tokens that the untrained model writes


@dataclass(frozen=True)
class StepChoice:
    """Which step is looked at: its text, batch (B rows of T tokens), number, and settings."""

    text: str
    rows: int = 2
    width: int = 3
    step: int = 1  # from 1 to STEPS
    optimizer: str = "sgd"  # a key of RATES
    clip: float = 0.5  # longest gradient that is not cut; 0: never cut
    seed: int = 0

    def config(self) -> TrainConfig:
        """The settings of the whole run, as the training loop takes them."""
        return TrainConfig(
            steps=STEPS,
            batch_size=self.rows,
            learning_rate=RATES[self.optimizer],
            min_lr=0.0,
            warmup_steps=5,
            optimizer=self.optimizer,
            weight_decay=0.1 if self.optimizer == "adamw" else 0.0,
            grad_clip=self.clip,
            eval_every=0,
            eval_batches=1,
            log_every=1,
            checkpoint_every=STEPS // 2,
            sample_every=0,
            seed=self.seed,
            **ON_ONE_CORE,
        )


@dataclass(frozen=True)
class OneStep:
    """All numbers of a step; arrays in float32, losses in nats."""

    names: tuple[str, ...]  # V tokens, as text that one can see is made from them
    ids: np.ndarray  # (B, T) what is read
    targets: np.ndarray  # (B, T) what comes next
    hidden: np.ndarray  # (B, T, C) what the head is given
    head: np.ndarray  # (V, C) before the step
    logits: np.ndarray  # (B, T, V)
    loss: float
    gradient: np.ndarray  # (V, C) of the head, by autograd, before clipping
    norms: Mapping[str, float]  # length of each parameter's gradient, before clipping
    norm: float  # of all together
    factor: float  # what each gradient is multiplied by
    rate: float  # of this step, by the schedule
    update: Mapping[str, np.ndarray]  # what the optimizer computed for the head, each (V, C)
    memory: Mapping[str, np.ndarray]  # what it remembered of the head before, each (V, C)
    after: np.ndarray  # (V, C) the head after the step
    loss_after: float  # of the same batch
    losses: tuple[float, ...]  # of the batch of every step up to this one
    untrained_loss: float  # of the first batch, before any step
    untrained: str  # what the model writes before any step

    @property
    def blind(self) -> float:
        """The loss of giving all V tokens the same probability, ln V."""
        return math.log(len(self.names))


def update(
    model: LanguageModel,
    optimizer: torch.optim.Optimizer,
    batch: tuple[Tensor, Tensor],
    config: TrainConfig,
    step: int,
) -> tuple[float, float]:
    """One update of the weights; return the loss before it and the length of its gradient.

    The same as `llmviz.training.loop` does on one CPU with one micro-batch.
    """
    from torch.nn.utils import clip_grad_norm_

    from llmviz.training.schedule import learning_rate_at

    inputs, targets = batch  # (B, T) each
    model.train()
    for group in optimizer.param_groups:
        group["lr"] = learning_rate_at(step, config)
    optimizer.zero_grad()  # forget the gradients of the last step
    loss = model(inputs, targets)[1]  # the mean over all B·T positions, in nats
    loss.backward()  # a gradient for every weight
    norm = clip_grad_norm_(model.parameters(), config.grad_clip or math.inf)
    optimizer.step()  # the weights change here, and nowhere else
    return float(loss.detach()), float(norm)


def prepared(choice: StepChoice, dropout: float = 0.0) -> tuple[Tokenizer, TrainData, GPT]:
    """The tokenizer of a text's characters, its batches, and the untrained model.

    Raises ValueError for a text of fewer than two characters.
    """
    import torch

    from llmviz.models import GPT, GPTConfig
    from llmviz.tokenizers import train_tokenizer
    from llmviz.training.data import Stream, TrainData, end_id

    text = choice.text[:READ]
    if len(text) < 2:
        raise ValueError(f"a step needs a text of at least 2 characters; got {len(text)}")
    tokenizer = train_tokenizer("char", [text])
    stream = Stream.join([tokenizer.encode(text)], end_id(tokenizer))
    width = min(choice.width, len(stream.ids) - 1)
    data = TrainData(stream, stream, width, tokenizer.vocab_size, "random", choice.seed)
    shape = GPTConfig(
        vocab_size=tokenizer.vocab_size,
        context_length=width,
        n_layer=1,
        n_head=2,
        n_embd=8,
        dropout=dropout,
        tied_head=False,
    )
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(choice.seed)
        return tokenizer, data, GPT(shape)


def trained_before(
    choice: StepChoice,
) -> tuple[TrainData, GPT, torch.optim.Optimizer, list[float]]:
    """The batches, the model and its optimizer just before the step, and the losses until then.

    Raises ValueError for a text that is too short or a step outside the run.
    """
    from llmviz.training.preparation import make_optimizer

    if not 1 <= choice.step <= STEPS:
        raise ValueError(f"the step must be from 1 to {STEPS}; got {choice.step}")
    _, data, model = prepared(choice)
    config = choice.config()
    optimizer = make_optimizer(model, config)
    losses = [
        update(model, optimizer, data.batch(step, choice.rows), config, step)[0]
        for step in range(1, choice.step)
    ]
    return data, model, optimizer, losses


def one_step(choice: StepChoice) -> OneStep:
    """Compute a step with everything between its batch and the new weights.

    Raises ValueError for a text that is too short or a step outside the run.
    """
    import torch

    from llmviz.training.optimizers import UPDATES, Hyper
    from llmviz.training.schedule import learning_rate_at

    data, model, optimizer, losses = trained_before(choice)
    config, batch = choice.config(), data.batch(choice.step, choice.rows)
    head = model.get_parameter(HEAD)
    before, memory = head.detach().clone(), _memory(optimizer, head, choice.step - 1)

    optimizer.zero_grad()
    given: list[Tensor] = []
    hook = model.head.register_forward_pre_hook(lambda module, args: given.append(args[0].detach()))
    logits, loss = model(*batch)
    hook.remove()
    loss.backward()
    gradients = {
        key: param.grad.clone() for key, param in model.named_parameters() if param.grad is not None
    }

    loss_before, norm = update(model, optimizer, batch, config, choice.step)
    factor = min(1.0, (config.grad_clip or math.inf) / (norm + 1e-6))  # so much is added by torch
    rate = learning_rate_at(choice.step, config)
    hyper = Hyper(lr=rate, beta1=config.beta1, beta2=config.beta2, weight_decay=config.weight_decay)
    computed = UPDATES[choice.optimizer](before, gradients[HEAD] * factor, memory, hyper).values
    with torch.no_grad():
        loss_after = float(model(*batch)[1])
    tokenizer, _, untrained = prepared(choice)
    with torch.no_grad():
        untrained_loss = float(untrained(*data.batch(1, choice.rows))[1])
    return OneStep(
        names=tuple(_name(tokenizer, i) for i in range(tokenizer.vocab_size)),
        ids=batch[0].numpy(),
        targets=batch[1].numpy(),
        hidden=given[0].numpy(),
        head=before.numpy(),
        logits=logits.detach().numpy(),
        loss=loss_before,
        gradient=gradients[HEAD].numpy(),
        norms={name: float(gradient.norm()) for name, gradient in gradients.items()},
        norm=norm,
        factor=factor,
        rate=rate,
        update={name: values.numpy() for name, values in computed.items()},
        memory={name: values.numpy() for name, values in memory.items() if values.dim() == 2},
        after=head.detach().numpy().copy(),
        loss_after=loss_after,
        losses=(*losses, loss_before),
        untrained_loss=untrained_loss,
        untrained=_written(tokenizer, untrained, choice.seed),
    )


def _name(tokenizer: Tokenizer, token: int) -> str:
    special = {number: text for text, number in tokenizer.special_tokens.items()}
    return special.get(token) or tokenizer.decode([token])


def _memory(optimizer: torch.optim.Optimizer, head: Tensor, steps: int) -> dict[str, Tensor]:
    """The state of torch's optimizer for the head, named as in `llmviz.training.optimizers`.

    With plain SGD, and before the first step, that is nothing.
    """
    import torch

    kept = optimizer.state.get(head, {})
    if "exp_avg" not in kept:
        return {}
    return {
        "count": torch.tensor(float(steps)),
        "mean": kept["exp_avg"].clone(),
        "mean_of_squares": kept["exp_avg_sq"].clone(),
    }


def _written(tokenizer: Tokenizer, model: GPT, seed: int) -> str:
    import torch

    from llmviz.sampling import generate
    from llmviz.training.data import end_id

    generator = torch.Generator().manual_seed(seed)
    start = end_id(tokenizer)
    tokens = generate(model.eval(), [start], SAMPLE, 1.0, generator=generator)
    special = set(tokenizer.special_tokens.values())
    return tokenizer.decode([token.id for token in tokens if token.id not in special])
