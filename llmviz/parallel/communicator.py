"""What a process sends and receives, with a note of each: what it is for, its bytes, its time."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch import Tensor

from llmviz.parallel.clock import RECEIVE, TO_ALL, Clock
from llmviz.parallel.formulas import ring_bytes
from llmviz.parallel.outcome import SEND
from llmviz.training.distributed import World

_TCP_INFO, _BYTES_SENT = 11, 200  # Linux: an option of sockets, and where in it the count stands


class Communicator:
    """All that a process sends and receives in its steps goes through here, and is counted.

    Counted is what a ring sends for an operation on so many bytes (`ring_bytes`). What the library
    under it really sends is another matter: `socket_bytes` asks the operating system.
    """

    def __init__(self, world: World) -> None:
        self.world, self.clock = world, Clock()
        self.times: Counter[str] = Counter()
        self.bytes: defaultdict[str, float] = defaultdict(float)
        self.sent_at: dict[str, float] = {}
        self.elsewhere = 0  # rows that went to experts of other processes, or came from others
        self._numbers: Counter[str] = Counter()

    def count_anew(self) -> None:
        """Forget what was counted so far: it was no part of a step."""
        self.times.clear()
        self.bytes.clear()
        self.elsewhere = 0

    def begin(self) -> None:
        """A step begins: its notes are new, the counts go on."""
        self.clock.begin()
        self.sent_at = {}
        self._numbers.clear()

    def all_reduce(self, tensor: Tensor, label: str) -> None:
        """Replace a tensor by the sum of those of all processes."""
        with self._collective("all_reduce", label, tensor):
            dist.all_reduce(tensor)

    def reduce_scatter(self, own: Tensor, whole: Tensor, label: str, op: Any = None) -> None:
        """Fill `own` with this process's part of the sum of all processes' `whole`."""
        with self._collective("reduce_scatter", label, whole):
            dist.reduce_scatter_single(own, whole, op=op or dist.ReduceOp.SUM)

    def all_gather(self, whole: Tensor, own: Tensor, label: str) -> None:
        """Fill `whole` with the `own` of all processes, one behind the other."""
        with self._collective("all_gather", label, whole):
            dist.all_gather_single(whole, own)

    def all_to_all(
        self, received: Tensor, sent: Tensor, come: list[int], go: list[int], label: str
    ) -> None:
        """Send `go[p]` rows to process p, in order; receive `come[p]` rows from it."""
        own = go[self.world.rank]
        away = sent[: len(sent) - own]  # as many bytes as leave this process
        with self._collective("all_to_all", label, away):
            dist.all_to_all_single(received, sent, come, go)

    def send(self, tensor: Tensor, to: int, label: str, **given: Any) -> Pending:
        """Hand a tensor over for another process, without waiting for it."""
        key = self._key(self.world.rank, to)
        self._count("send", tensor)
        with self.clock.away(SEND, label, key):
            work = dist.isend(tensor, group_dst=to, **given)
        self.sent_at[key] = self.clock.notes[-1].start
        return Pending(work, self.clock, SEND, label, key)

    def receive(self, tensor: Tensor, source: int, label: str, **given: Any) -> Pending:
        """Ask for a tensor of another process; it is there when the result has been waited for."""
        key = self._key(source, self.world.rank)
        work = dist.irecv(tensor, group_src=source, **given)
        return Pending(work, self.clock, RECEIVE, label, key)

    def _key(self, source: int, to: int) -> str:
        self._numbers[f"{source}>{to}"] += 1
        return f"{source}>{to}:{self._numbers[f'{source}>{to}']}"

    def _collective(self, operation: str, label: str, payload: Tensor) -> Any:
        self._count(operation, payload)
        self._numbers[TO_ALL] += 1
        return self.clock.away(TO_ALL, label, f"{TO_ALL}:{self._numbers[TO_ALL]}")

    def _count(self, operation: str, payload: Tensor) -> None:
        size = payload.numel() * payload.element_size()
        self.times[operation] += 1
        self.bytes[operation] += ring_bytes(operation, size, self.world.size)


class Pending:
    """A send or a receive that goes on; `wait` is the time in which the process stands still."""

    def __init__(
        self, work: dist.Work | None, clock: Clock, kind: str, label: str, key: str
    ) -> None:
        self._work, self._clock, self._note = work, clock, (kind, label, key)

    def wait(self) -> None:
        """Go on when it has ended."""
        with self._clock.away(*self._note):
            if self._work is not None:  # torch: None for who is no part of the group
                self._work.wait()


def socket_bytes() -> int | None:
    """Bytes that the TCP sockets of this process have sent; None where the system does not say.

    Reference: tcp(7), TCP_INFO; `tcpi_bytes_sent` since Linux 4.19.
    """
    if not sys.platform.startswith("linux"):
        return None
    total = 0
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed meanwhile, or no socket
            if str(entry.readlink()).startswith("socket:"):
                total += _bytes_of(int(entry.name))
    return total


def _bytes_of(descriptor: int) -> int:
    with socket.socket(fileno=os.dup(descriptor)) as sock:
        if sock.family not in (socket.AF_INET, socket.AF_INET6) or sock.type != socket.SOCK_STREAM:
            return 0
        info = sock.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 256)
    return struct.unpack_from("=Q", info, _BYTES_SENT)[0] if len(info) >= _BYTES_SENT + 8 else 0
