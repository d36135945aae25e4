"""A small text, its data, and models that train in moments."""

import dataclasses
import importlib
import sys

import pytest
import torch

from llmviz.corpus import Corpus
from llmviz.tokenizers import train_tokenizer
from llmviz.training import TrainData, load_checkpoint, locks, read_metrics
from llmviz.training.plan import Plan
from tests.pages.conftest import bundle, folder
from tests.training.small_plans import small_training

__all__ = ["bundle", "folder"]

LINES = [
    f"{a} {b} {c}" for a in ("ann", "bob", "cy") for b in ("saw", "met") for c in ("dan", "eve")
]


@pytest.fixture
def corpus():
    return Corpus("lines", LINES)


@pytest.fixture
def tokenizer():
    return train_tokenizer("char", LINES)


@pytest.fixture
def data(corpus, tokenizer):
    return TrainData.from_corpus(corpus, tokenizer, 16)


@pytest.fixture
def config():
    rates = dict(learning_rate=1e-2, min_lr=1e-3, warmup_steps=2)
    return small_training(steps=6, batch_size=4, eval_every=3, eval_batches=0, **rates)


@pytest.fixture(params=["this system's", "Windows'"])
def system_locks(request, monkeypatch):
    """The locks of this system, then those of Windows."""
    if request.param == "Windows'" and sys.platform != "win32":
        if sys.platform != "linux":
            pytest.skip("only Linux has locks that are as those of a Windows handle")
        monkeypatch.setattr(locks, "fcntl", None)
        lent = importlib.import_module("tests.training.windows_locks")
        monkeypatch.setitem(sys.modules, "msvcrt", lent)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where runs are kept, which is not there yet."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def plan(tmp_path, config):
    """A small GRU on lines of a file."""
    text = tmp_path / "lines.txt"
    text.write_text("\n".join(f"ann met bob{i}" for i in range(40)), encoding="utf-8")
    return Plan(
        model="gru",
        model_options={"n_embd": 8},
        corpus=str(text),
        context_length=16,
        train=dataclasses.replace(config, checkpoint_every=2),
    )


def same_end(one, other):
    """Whether two runs left the same weights, bit for bit, and the same curve."""
    ends = [load_checkpoint(folder).model for folder in (one, other)]
    curves = [[(r.step, r.train_loss) for r in read_metrics(folder)] for folder in (one, other)]
    return curves[0] == curves[1] and all(
        torch.equal(ends[0][key], ends[1][key]) for key in ends[0]
    )
