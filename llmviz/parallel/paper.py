"""Training a typed model on typed machines, on paper: memory, bytes, days. No torch.

P parameters, N GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass

from llmviz.config import Config
from llmviz.parallel.formulas import ring_bytes

STAGES = ("data", "zero1", "zero2", "zero3")
WEIGHT = GRADIENT = 2  # bytes: numbers of 16 bits
STATE = 12  # bytes: a float32 copy of the weight, and two float32 averages
FORWARD_BACKWARD = 6  # operations per parameter and token: 2 forward, 4 backward
WITH_CHECKPOINTS = 8  # the forward pass is computed twice
SECONDS_A_DAY = 86_400


@dataclass(frozen=True)
class Training(Config):
    """A training on paper; each number is above 0, utilization at most 1, batch at most tokens.

    Raises ValueError for other numbers.

    parameters, tokens: of the model and of its whole training. gpus: N. peak: operations a second
    of one GPU at best, in 16 bits. utilization: the share of them that is reached. memory: bytes
    of one GPU. bandwidth: bytes a second that one GPU sends. batch: tokens of a step, of all GPUs.
    checkpoints: the forward pass is computed again for the backward pass, to save memory.
    """

    parameters: float
    tokens: float
    gpus: int
    peak: float
    utilization: float
    memory: float
    bandwidth: float
    batch: float
    checkpoints: bool = False

    def __post_init__(self) -> None:
        self.require_positive("gpus")
        self.require_bool("checkpoints")
        names = ("parameters", "tokens", "peak", "utilization", "memory", "bandwidth", "batch")
        for name in names:
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise ValueError(f"{name} must be a number above 0; got {value}")
        if self.utilization > 1:
            raise ValueError(f"utilization must be at most 1; got {self.utilization}")
        if self.batch > self.tokens:
            raise ValueError(
                f"a training has at least the tokens of one step; got tokens={self.tokens:g}, "
                f"batch={self.batch:g}"
            )


def memory_parts(parameters: float, gpus: int, stage: str) -> dict[str, float]:
    """Bytes of "weights", "gradients" and Adam's "state" on each GPU, without activations.

    2 bytes a weight, 2 a gradient, 12 a state; what a stage of ZeRO splits is divided by N. Raises
    ValueError for an unknown stage.

    Reference: Rajbhandari et al. 2020, "ZeRO", section 5.

    >>> memory_parts(1.0, 4, "zero2")
    {'weights': 2.0, 'gradients': 0.5, 'state': 3.0}
    """
    if stage not in STAGES:
        raise ValueError(f"stage must be one of {', '.join(STAGES)}; got {stage!r}")
    split = STAGES.index(stage)
    return {
        "weights": WEIGHT * parameters / (gpus if split >= 3 else 1),
        "gradients": GRADIENT * parameters / (gpus if split >= 2 else 1),
        "state": STATE * parameters / (gpus if split >= 1 else 1),
    }


def memory_per_gpu(parameters: float, gpus: int, stage: str) -> float:
    """Bytes of weights, gradients and Adam's state on each GPU together; see `memory_parts`.

    Reference: Rajbhandari et al. 2020, "ZeRO", section 5 and figure 1.

    >>> [f"{memory_per_gpu(7.5e9, 64, stage) / 1e9:.1f}" for stage in STAGES]
    ['120.0', '31.4', '16.6', '1.9']
    """
    return sum(memory_parts(parameters, gpus, stage).values())


def bytes_per_step(parameters: float, gpus: int, stage: str) -> float:
    """Bytes that each GPU sends in a step: nearly twice those of the weights, in stage 3 thrice.

    Of each gathering and scattering it sends (N−1)/N. Raises ValueError for an unknown stage.

    Reference: Rajbhandari et al. 2020, section 7.
    """
    if stage not in STAGES:
        raise ValueError(f"stage must be one of {', '.join(STAGES)}; got {stage!r}")
    gathers = 2 if stage == "zero3" else 1
    weights = WEIGHT * parameters
    gathered = gathers * ring_bytes("all_gather", weights, gpus)
    return gathered + ring_bytes("reduce_scatter", weights, gpus)


def operations_each(training: Training) -> int:
    """Operations for each parameter and token: 6, or 8 if the forward pass is computed twice."""
    return WITH_CHECKPOINTS if training.checkpoints else FORWARD_BACKWARD


def seconds_computing(training: Training) -> float:
    """Seconds of a step that are arithmetic: 6 (or 8) operations per parameter and token.

    Reference: Kaplan et al. 2020, "Scaling Laws", section 2.1; Narayanan et al. 2021, "Efficient
    large-scale language model training on GPU clusters", section 5.1 (8 with a second forward).
    """
    speed = training.gpus * training.peak * training.utilization
    return operations_each(training) * training.parameters * training.batch / speed


def seconds_sending(training: Training, stage: str) -> float:
    """Seconds of a step that sending takes, if it does not hide behind arithmetic."""
    return bytes_per_step(training.parameters, training.gpus, stage) / training.bandwidth


def days(training: Training) -> float:
    """Days of arithmetic of the whole training, as if sending took no time.

    >>> gpt3 = Training(175e9, 300e9, 1024, 312e12, 140 / 312, 80e9, 25e9, 3.2e6, True)
    >>> round(days(gpt3))
    34
    """
    return seconds_computing(training) * training.tokens / training.batch / SECONDS_A_DAY
