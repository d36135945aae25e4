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


def test_elsewhere_nothing_happens(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory() is False
