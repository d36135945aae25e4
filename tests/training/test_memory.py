"""Freed memory stays in the process once that was asked for."""

import json
import subprocess
import sys

import pytest

from llmviz.training.memory import keep_freed_memory

FAULTS = """
import resource
import torch
from llmviz.training.memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        held = [torch.ones(2**21) for _ in range(4)]  # 8 MiB each, freed together
        del held
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

handed_back = faults()
assert keep_freed_memory()
faults()  # fills the heap once
print(handed_back, faults())
"""


HELD = """
import psutil
import torch
from llmviz.training import memory

def held():
    return psutil.Process().memory_info().rss / 2**20

memory.hand_back_freed_memory()  # does nothing as long as nothing is kept
assert memory.keep_freed_memory()
before = held()
blocks = [torch.ones(2**18) for _ in range(200)]  # 1 MiB each
in_use = blocks[::2]  # so that there are holes between them
del blocks
full = held()
memory.hand_back_freed_memory()
print(before, full, held())
"""


# Each program has a process of its own; they share what takes long to import.
EACH_IN_A_FORK = """
import json, os, sys
import psutil, torch
import llmviz.training.memory
for program in json.loads(sys.stdin.read()):
    child = os.fork()
    if not child:
        exec(program, {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    assert not os.waitpid(child, 0)[1]
"""


@pytest.fixture(scope="module")
def printed():
    """The numbers that each program prints."""
    done = subprocess.run(
        [sys.executable, "-c", EACH_IN_A_FORK],
        input=json.dumps([FAULTS, HELD]),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    faults, held = done.stdout.splitlines()
    return {FAULTS: list(map(int, faults.split())), HELD: list(map(float, held.split()))}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator only")
def test_pages_are_taken_once_instead_of_at_every_step(printed):
    handed_back, kept = printed[FAULTS]
    assert kept < handed_back / 10


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator only")
def test_what_lies_free_between_blocks_is_handed_back(printed):
    before, full, after = printed[HELD]
    assert full - before > 180  # both halves
    assert full - after > 80  # the one that is not in use


def test_elsewhere_nothing_happens(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory() is False
