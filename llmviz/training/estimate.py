"""What a run will cost before it is started: parameters, memory, time; and what cannot work."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks

from llmviz.config import Config
from llmviz.models import build
from llmviz.models.base import LanguageModel, count_parameters
from llmviz.models.catalogue import able, entry_of
from llmviz.models.memory_limits import check_memory, check_sizes
from llmviz.models.registry import from_outlines
from llmviz.models.training_bytes import OPTIMIZER_NUMBERS
from llmviz.nn.outline import outlined
from llmviz.nn.recurrent import Recurrence
from llmviz.tokenizers import TOKENIZERS, TRAINERS, get_tokenizer
from llmviz.training import distributed
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.device import choose_device
from llmviz.training.preparation import check_recompute, make_optimizer

FLOAT = 4  # bytes of a number
BPE_DEFAULT, BPE_LEAST = 1024, 257
RECURRENT_CONTEXT = 16  # tokens that a recurrent model is measured on
FORWARD_SHARE = 1 / 3  # of a step's time, the rest is the backward pass and the update


@dataclass(frozen=True)
class Estimate:
    """What a run of a plan needs; memory in bytes, of numbers alone, without Python and torch."""

    vocab_size: int
    parameters: int
    weights: int
    gradients: int
    optimizer: int  # what it remembers of earlier gradients
    activations: int  # what the forward pass leaves for the backward pass, and the logits
    checkpoint: int  # on the disk, one of them
    checkpoints: int  # how many stay on the disk
    tokens_per_step: int

    @property
    def memory(self) -> int:
        """Bytes that training takes, at the height of a step."""
        return self.weights + self.gradients + self.optimizer + self.activations

    @property
    def disk(self) -> int:
        """Bytes of the checkpoints that stay."""
        return self.checkpoint * self.checkpoints


def estimate(plan: Plan, vocab_size: int) -> Estimate:
    """Build outlines of the plan's model, without memory for its numbers, and count.

    vocab_size: see `vocabulary`. Raises ValueError naming the rule for settings that cannot work.
    """
    entry = entry_of(plan.model)
    options = {"vocab_size": vocab_size}
    if not entry.word_vectors:  # which reads pairs of words and has no context
        options["context_length"] = plan.context_length
    config: Any = entry.config.from_dict({**options, **plan.model_options})
    check_sizes(plan.model, config.to_dict())
    rows = -(-plan.train.batch_size // plan.train.accumulate)

    def measure(smaller: Config) -> tuple[int, int]:
        with outlined():
            model = build(plan.model, smaller).train()
        make_optimizer(model, plan.train)
        check_recompute(model, plan.train.recompute)
        return count_parameters(model), _activations(plan, model, vocab_size, rows)

    count, activations = from_outlines(measure, config, "n_layer")
    if every := plan.train.recompute:
        single, double = (measure(dataclasses.replace(config, n_layer=n))[1] for n in (1, 2))
        kept = FLOAT * rows * plan.context_length * config.n_embd * -(-config.n_layer // every)
        again = max(0, config.n_layer - every) * (double - single)  # computed when it is needed
        activations = min(activations, activations - again + kept)
    kept = plan.train.steps // plan.train.snapshot_every if plan.train.snapshot_every else 0
    remembered = OPTIMIZER_NUMBERS[plan.train.optimizer]
    return Estimate(
        vocab_size=vocab_size,
        parameters=count,
        weights=FLOAT * count,
        gradients=FLOAT * count,
        optimizer=FLOAT * count * remembered,
        activations=activations,
        checkpoint=FLOAT * count * (1 + remembered),
        checkpoints=kept + 1,
        tokens_per_step=plan.train.batch_size * plan.context_length,
    )


def check_room(plan: Plan, vocab_size: int, longest_row: int) -> None:
    """Raise ValueError, with both numbers, where a run of a plan needs more memory than is free.

    longest_row: most tokens of a row of a batch; short texts do not fill the context.
    On a GPU what a step leaves for the way back is not counted: its kernels keep less of it.
    """
    rows = dataclasses.replace(plan, context_length=min(plan.context_length, longest_row))
    guess = estimate(rows, vocab_size)
    device = choose_device(plan.train.device).type
    processes = distributed.current().size
    state = (guess.weights + guess.gradients + guess.optimizer) // (
        processes if plan.train.shard else 1
    )
    if device == "cuda":
        check_memory(state, "training this on the GPU", torch.cuda.mem_get_info()[0])
    else:
        check_memory(state + (guess.activations // processes if device == "cpu" else 0), "this run")


def _activations(plan: Plan, model: LanguageModel, vocab_size: int, rows: int) -> int:
    """Bytes that a step of so many rows takes at its height, weights and their like apart.

    A recurrent model goes through its context token by token: a part of it is measured, and what
    it takes is in proportion.
    """
    if able(plan.model, "word_vectors"):
        # Each word has a reach from 1 to the window, drawn anew: their mean, to both sides.
        pairs = rows * plan.context_length * (model.config.window + 1)
        centers = torch.zeros(pairs, dtype=torch.long, device="meta")
        others = centers.new_zeros((pairs, model.config.negatives))
        scored = saved_bytes(model, (centers, centers, others))
        return scored + others.numel() * model.config.n_embd * FLOAT  # gradients of random words
    context = plan.context_length
    recurrent = any(isinstance(module, Recurrence) for module in model.modules())
    short = min(context, RECURRENT_CONTEXT) if recurrent else context
    idx = torch.zeros((rows, short), dtype=torch.long, device="meta")
    given = (idx, idx, idx) if able(plan.model, "translates") else (idx, idx)
    return saved_bytes(model, given) * context // short


def saved_bytes(model: LanguageModel, given: tuple[torch.Tensor, ...]) -> int:
    """Bytes that a forward and backward pass takes at its height, weights and their like apart."""
    own = {tensor.untyped_storage()._cdata for tensor in (*model.parameters(), *model.buffers())}
    seen: dict[int, tuple[int, torch.Tensor]] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            # The tensor is held, so that no other one gets its place in memory.
            seen[storage._cdata] = storage.nbytes(), tensor
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        output = model(*given)[0]
    logits = sum(part.numel() for part in (output if isinstance(output, tuple) else (output,)))
    # The logits and their gradient are the largest of what comes and goes on the way back.
    return sum(size for size, _ in seen.values()) + 2 * logits * FLOAT


def vocabulary(plan: Plan, train: list[Any]) -> int:
    """How many tokens the plan's tokenizer will have, without training it; for bpe, at most.

    train: the training documents. Raises ValueError naming the rule.
    """
    if able(plan.model, "translates") and plan.tokenizer not in ("char", "word"):
        raise ValueError(
            f"translation needs the tokenizer word or char, which can pad; got {plan.tokenizer}"
        )
    if plan.tokenizer == "bpe":
        size = plan.vocab_size or BPE_DEFAULT
        if size < BPE_LEAST:
            raise ValueError(
                f"vocab_size of bpe must be at least {BPE_LEAST}: 256 bytes and the end of text; "
                f"got {size}"
            )
        return size
    if plan.tokenizer in TRAINERS:
        from llmviz.tokenizers import train_tokenizer

        texts = [text if isinstance(text, str) else "\n".join(text) for text in train]
        return train_tokenizer(plan.tokenizer, texts, plan.vocab_size).vocab_size
    if plan.tokenizer not in TOKENIZERS:
        names = ", ".join(dict.fromkeys((*TRAINERS, *TOKENIZERS)))
        raise ValueError(f"tokenizer must be one of {names}; got {plan.tokenizer!r}")
    return get_tokenizer(plan.tokenizer).vocab_size


def run_seconds(config: TrainConfig, step: float, done: int = 0) -> float:
    """Seconds of a run from those of one step, validation losses included; done: steps that are."""
    steps = config.steps - done
    looks = steps // config.eval_every + 1 if config.eval_every else 1
    return step * (steps + looks * config.eval_batches * FORWARD_SHARE)
