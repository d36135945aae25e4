"""No more forward passes at once than there are turns, and none is lost where a pass fails."""

from __future__ import annotations

import copy
import threading
import time

import pytest
import torch
from torch import nn

from llmviz.course.ui import engine
from llmviz.course.ui.engine import Turns, take_turns


class Counting(nn.Module):
    """Notes how many are inside at once; fails where it is told to; may call another."""

    def __init__(self, inner: nn.Module | None = None) -> None:
        super().__init__()
        self.inner = inner
        self.inside = self.most = 0
        self._lock = threading.Lock()

    def forward(self, x: torch.Tensor, fails: bool = False) -> torch.Tensor:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        try:
            time.sleep(0.005)
            if fails:
                raise ValueError("it fails")
            return x if self.inner is None else self.inner(x)
        finally:
            with self._lock:
                self.inside -= 1


def run_all(model: nn.Module, threads: int, timeout: float = 30.0) -> None:
    workers = [threading.Thread(target=model, args=(torch.zeros(1),)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout)
        assert not worker.is_alive()


@pytest.mark.parametrize("at_once", [1, 2])
def test_as_many_at_once_as_there_are_turns(at_once):
    model = take_turns(Counting(), Turns(at_once))
    run_all(model, 8)
    assert model.most == at_once


def test_without_turns_all_are_inside():
    model = Counting()
    run_all(model, 8)
    assert model.most > 2


def test_a_pass_that_fails_gives_its_turn_back():
    model = take_turns(Counting(), Turns(1))
    for _ in range(3):
        with pytest.raises(ValueError, match="it fails"):
            model(torch.zeros(1), fails=True)
    run_all(model, 2)


def test_a_pass_within_a_pass_does_not_wait_for_itself():
    one = Turns(1)
    model = take_turns(Counting(take_turns(Counting(), one)), one)
    run_all(model, 3)


def test_a_loaded_model_takes_turns_and_so_does_its_copy():
    model = engine.load("names-mlp").model
    for one in (model, copy.deepcopy(model)):
        assert engine.TURNS.begin in one._forward_pre_hooks.values()
        assert engine.TURNS.end in one._forward_hooks.values()
