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

# Parameters × tokens of a pass, from which bfloat16 is taken on a CPU that multiplies it itself. On
# two cores of an EPYC (avx512_bf16) gpt, lstm, gru, rnn, mlp and wavenet gained 1.2 to 5 times
# above it; below 4e7 most lost.
BFLOAT16_FROM = 1e8


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


def choose_dtype(
    model: nn.Module, batch: tuple[Tensor, ...], config: TrainConfig, device: torch.device
) -> torch.dtype:
    """The arithmetic of a config; for `auto` by machine and sizes, so always the same there."""
    if config.dtype != "auto":
        dtype: torch.dtype = getattr(torch, config.dtype)
        return dtype
    work = sum(parameter.numel() for parameter in model.parameters()) * batch[0].numel()
    pays = device.type != "cpu" or work >= BFLOAT16_FROM
    return torch.bfloat16 if pays and has_fast_bfloat16(device) else torch.float32


def settle(
    model: nn.Module,
    batch: tuple[Tensor, ...],
    config: TrainConfig,
    *,
    seconds: float = 0.5,
) -> Compute:
    """Resolve every `auto` of a config; a CPU's threads by a short measurement on the model.

    batch: one batch as the run will see it. The model is left as it was: a copy is measured.
    seconds: about how long measuring may take.
    Raises ValueError for a device that is not there.
    """
    device = choose_device(config.device)
    compiled = compiles(config, device)
    dtype = choose_dtype(model, batch, config, device)
    if device.type != "cpu":
        return Compute(device, dtype, config.threads or torch.get_num_threads(), compiled)
    cores = min(psutil.cpu_count(logical=False) or 1, MOST_THREADS)
    threads = [config.threads] if config.threads else sorted({1, cores // 2 or 1, cores})
    if len(threads) > 1:
        timed = _measure(model, batch, [(dtype, count) for count in threads], seconds)
        threads.sort(key=lambda count: timed[dtype, count])
    return Compute(device, dtype, threads[0], compiled)


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
