"""Where and in which arithmetic a run computes: device, precision, CPU threads."""

from __future__ import annotations

import contextlib
import copy
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch
from torch import Tensor, nn

from llmviz.training.config import MOST_THREADS, TrainConfig

MUCH_FASTER = 1.15  # bfloat16 is taken on a CPU only if it gains at least this factor


@dataclass(frozen=True)
class Compute:
    """The arithmetic of a run, with nothing left on auto."""

    device: torch.device
    dtype: torch.dtype  # of the products; weights and optimizer state are float32
    threads: int  # CPU threads
    compiled: bool

    def autocast(self) -> contextlib.AbstractContextManager[None]:
        """The context in which forward passes run."""
        if self.dtype is torch.float32:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, self.dtype)

    @property
    def dtype_name(self) -> str:
        return str(self.dtype).removeprefix("torch.")


def choose_device(name: str) -> torch.device:
    """The torch device of a name; ValueError for one that this machine lacks."""
    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if cuda else "mps" if mps else "cpu"
    if (name == "cuda" and not cuda) or (name == "mps" and not mps):
        raise ValueError(f"device must be one that this machine has; got {name!r}")
    return torch.device(name)


def compiles(config: TrainConfig, device: torch.device) -> bool:
    """Whether a run's model is compiled, which its first steps pay for."""
    return config.compile == "on" or (config.compile == "auto" and device.type == "cuda")


def has_fast_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 numbers in its own instructions."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if device.type == "cpu":
        with contextlib.suppress(OSError):
            flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
            return "avx512_bf16" in flags or "amx_bf16" in flags
    return False


def settle(
    model: nn.Module,
    batch: tuple[Tensor, ...],
    config: TrainConfig,
    *,
    seconds: float = 0.5,
) -> Compute:
    """Resolve every `auto` of a config; on a CPU by a short measurement on the model itself.

    batch: one batch as the run will see it. The model is left as it was: a copy is measured.
    seconds: about how long measuring may take.
    Raises ValueError for a device that is not there.
    """
    device = choose_device(config.device)
    compiled = compiles(config, device)
    fast = has_fast_bfloat16(device)
    if config.dtype != "auto":
        dtypes = [getattr(torch, config.dtype)]
    else:
        dtypes = [torch.float32, torch.bfloat16] if fast else [torch.float32]
    if device.type != "cpu":
        return Compute(device, dtypes[-1], config.threads or torch.get_num_threads(), compiled)
    cores = min(psutil.cpu_count(logical=False) or 1, MOST_THREADS)
    threads = [config.threads] if config.threads else sorted({1, cores // 2 or 1, cores})
    choices = [(dtype, count) for dtype in dtypes for count in threads]
    if len(choices) == 1:
        return Compute(device, *choices[0], compiled)
    timed = _measure(model, batch, choices, seconds)
    best = min(threads, key=lambda count: min(timed[dtype, count] for dtype in dtypes))
    dtype = dtypes[0]
    if len(dtypes) > 1 and timed[dtypes[0], best] > MUCH_FASTER * timed[dtypes[1], best]:
        dtype = dtypes[1]
    return Compute(device, dtype, best, compiled)


def _measure(
    model: nn.Module,
    batch: tuple[Tensor, ...],
    choices: list[tuple[torch.dtype, int]],
    seconds: float,
) -> dict[tuple[torch.dtype, int], float]:
    """Seconds of a forward and backward pass for each choice, taken in turns; medians."""
    twin = copy.deepcopy(model).train()
    timed: dict[tuple[torch.dtype, int], list[float]] = {choice: [] for choice in choices}
    start, rounds = time.perf_counter(), 0
    with torch.random.fork_rng(devices=[]), thread_count(None):
        while rounds < 2 or (rounds < 6 and time.perf_counter() - start < seconds):
            for dtype, threads in choices:
                torch.set_num_threads(threads)
                with Compute(torch.device("cpu"), dtype, threads, False).autocast():
                    begun = time.perf_counter()
                    twin(*batch)[1].backward()
                    timed[dtype, threads].append(time.perf_counter() - begun)
            rounds += 1
    # the first round pays for allocations and is left out
    return {choice: statistics.median(values[1:]) for choice, values in timed.items()}


@contextlib.contextmanager
def thread_count(count: int | None) -> Iterator[None]:
    """Use `count` CPU threads (None: change nothing yet) and put the old number back."""
    before = torch.get_num_threads()
    try:
        if count is not None:
            torch.set_num_threads(count)
        yield
    finally:
        torch.set_num_threads(before)
