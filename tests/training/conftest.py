"""A small text, its data, and models that train in moments."""

import importlib
import sys

import pytest

from llmviz.corpus import Corpus
from llmviz.tokenizers import train_tokenizer
from llmviz.training import TrainConfig, TrainData, locks
from tests.pages.conftest import bundle, folder

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
    return TrainConfig(
        steps=6,
        batch_size=4,
        learning_rate=1e-2,
        min_lr=1e-3,
        warmup_steps=2,
        eval_every=3,
        eval_batches=0,
        device="cpu",
        dtype="float32",
        threads=1,
    )


@pytest.fixture(params=["this system's", "Windows'"])
def system_locks(request, monkeypatch):
    """The locks of this system, then those of Windows."""
    if request.param == "Windows'" and sys.platform != "win32":
        if sys.platform != "linux":
            pytest.skip("only Linux has locks that are as those of a Windows handle")
        monkeypatch.setattr(locks, "fcntl", None)
        lent = importlib.import_module("tests.training.windows_locks")
        monkeypatch.setitem(sys.modules, "msvcrt", lent)
