"""What a parallel run is to do: the method, the processes, the model. No torch.

B rows of the batch, T tokens of a row, C width, H heads, L layers, N processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from llmviz.config import Config
from llmviz.models.settings import GPTConfig

METHODS = {
    "data": "data parallel: the whole model everywhere, gradients are averaged",
    "zero1": "ZeRO 1: the optimizer state is split",
    "zero2": "ZeRO 2: gradients are split, too",
    "zero3": "ZeRO 3: weights are split, too (fully_shard)",
    "tensor": "tensor parallel: each matrix of a layer is split",
    "gpipe": "pipeline: whole layers are split, all micro-batches forward, then all back (GPipe)",
    "1f1b": "pipeline: one micro-batch forward, one back (1F1B)",
    "experts": "expert parallel: experts are split, tokens travel to them",
}
PIPELINES = ("gpipe", "1f1b")
BYTES_EACH = 4  # float32
VOCABULARY = 256  # a token is a byte


@dataclass(frozen=True)
class ParallelPlan(Config):
    """Settings of a run that is the same on one process and on N.

    The optimizer is AdamW without clipping, numbers are float32, a token is a byte of the bundled
    stories. Raises ValueError for what cannot be split over so many processes.
    """

    method: str = "data"
    processes: int = 2  # N
    steps: int = 6
    batch: int = 32  # B, rows of all processes together
    micro_batches: int = 4  # M, parts of the batch that go through a pipeline one by one
    context_length: int = 64  # T
    n_layer: int = 4  # L
    n_head: int = 4  # H
    n_embd: int = 128  # C
    n_expert: int = 4  # feed-forward networks a layer, for the method "experts" alone
    learning_rate: float = 3e-3
    seed: int = 0

    def __post_init__(self) -> None:
        self.require_one_of("method", tuple(METHODS))
        self.require_positive("processes", "steps", "batch", "micro_batches", "context_length")
        self.require_positive("n_layer", "n_head", "n_embd", "n_expert")
        n = self.processes
        if n < 2:
            raise ValueError(f"a parallel run needs at least 2 processes; got {n}")
        self.model()  # refuses heads that do not divide the width
        if self.method in PIPELINES:
            self._check_pipeline()
        elif self.method == "tensor":
            _divides(n, self.n_head, "heads (n_head)")
        else:
            _divides(n, self.batch, "rows of the batch (batch)")
            if self.method == "experts":
                _divides(n, self.n_expert, "experts (n_expert)")

    def _check_pipeline(self) -> None:
        n, m = self.processes, self.micro_batches
        if n > self.n_layer:
            raise ValueError(
                f"a pipeline needs a layer for each process; got {n} processes and "
                f"{self.n_layer} layers (n_layer)"
            )
        if self.batch % m:
            raise ValueError(
                f"micro_batches must divide the rows of the batch; got micro_batches={m}, "
                f"batch={self.batch}"
            )
        if self.method == "1f1b" and m < n:
            raise ValueError(
                f"1F1B needs at least as many micro-batches as processes; got {m} and {n}"
            )

    def model(self) -> GPTConfig:
        """The settings of the model: those of a GPT whose head is a matrix of its own."""
        return GPTConfig(
            vocab_size=VOCABULARY,
            context_length=self.context_length,
            n_layer=self.n_layer,
            n_head=self.n_head,
            n_embd=self.n_embd,
            tied_head=False,  # the first and the last process of a pipeline share nothing
            n_expert=self.n_expert if self.method == "experts" else 1,
            experts_per_token=min(2, self.n_expert),
            balance=0.0,  # it would differ between parts of a batch and the whole
        )

    @property
    def rows(self) -> int:
        """Rows of the batch that one process computes at once."""
        if self.method in PIPELINES:
            return self.batch // self.micro_batches
        return self.batch if self.method == "tensor" else self.batch // self.processes


def _divides(processes: int, number: int, what: str) -> None:
    if number % processes:
        raise ValueError(
            f"the number of processes must divide the {what}; got {processes} processes and "
            f"{number}"
        )


def part_of(name: str) -> str:
    """The part of the model that a tensor belongs to, by its name in the state dict.

    >>> part_of("token.weight"), part_of("blocks.2.attn.qkv.bias"), part_of("norm_final.bias")
    ('embedding', '2.attention', 'head')
    >>> part_of("blocks.0.mlp.experts.3.hidden.weight"), part_of("blocks.0.norm2.weight")
    ('0.expert.3', '0.mlp')
    """
    if name.startswith(("token.", "position.")):
        return "embedding"
    if not name.startswith("blocks."):
        return "head"
    _, layer, module, *rest = name.split(".")
    if module in ("norm1", "attn"):
        return f"{layer}.attention"
    if rest[0] == "experts":
        return f"{layer}.expert.{rest[1]}"
    return f"{layer}.mlp"


def unit_of(name: str) -> str:
    """The group of tensors that are sent at once: a layer, or what is around the layers.

    >>> unit_of("token.weight"), unit_of("blocks.2.attn.qkv.bias"), unit_of("head.weight")
    ('embedding', 'layer 3', 'head')
    """
    unit = part_of(name).partition(".")[0]
    return f"layer {int(unit) + 1}" if unit.isdigit() else unit


def stage_layers(layers: int, stages: int) -> list[range]:
    """The layers of each stage of a pipeline; the first stages have one more where it is uneven.

    >>> stage_layers(5, 2)
    [range(0, 3), range(3, 5)]
    """
    size, more = divmod(layers, stages)
    starts = [stage * size + min(stage, more) for stage in range(stages + 1)]
    return [range(a, b) for a, b in pairwise(starts)]
