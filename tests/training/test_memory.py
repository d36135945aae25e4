"""Freed memory stays in the process once that was asked for."""

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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator only")
def test_pages_are_taken_once_instead_of_at_every_step():
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    handed_back, kept = map(int, done.stdout.split())
    assert kept < handed_back / 10


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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's allocator only")
def test_what_lies_free_between_blocks_is_handed_back():
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    before, full, after = map(float, done.stdout.split())
    assert full - before > 180  # both halves
    assert full - after > 80  # the one that is not in use


def test_elsewhere_nothing_happens(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory() is False
