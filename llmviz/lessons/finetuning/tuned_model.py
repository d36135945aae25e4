"""The models that the lesson compares: random, pretrained, and with a bundled adapter."""

from __future__ import annotations

from torch import nn

from llmviz.finetuning.plan import BASE
from llmviz.study import tuned_models
from llmviz.study.continuations import untrained
from llmviz.ui import engine
from llmviz.ui.kept import kept


def base() -> engine.Bundled:
    """Return the model that the bundled adapters were made for; ValueError where it is not here."""
    return engine.load(BASE)


def tuned(name: str) -> nn.Module:
    """Return that model with a bundled adapter added in, the same object for all visitors.

    Raises ValueError where the adapter is not in this copy, or belongs to other weights.
    """
    return _tuned(name, base().version)


@kept(4)
def _tuned(name: str, version: str) -> nn.Module:
    return tuned_models.tuned_model(base().model, name)


def random_one() -> nn.Module:
    """Return a model of that shape before any training."""
    return _random(base().version)


@kept(2)
def _random(version: str) -> nn.Module:
    return untrained(base().model)
