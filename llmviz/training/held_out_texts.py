"""Texts that a model was not trained on, to measure it on, and the loss that no model can beat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

SEED = 20_000  # of stories that no bundled model was trained on
CALIBRATION_SEED = 30_000  # of others, for settings that are chosen by text


class HeldOut(NamedTuple):
    """Texts, and minus the exact log-probability of each by the grammar that wrote it, in nats.

    nats: None where no such grammar is known.
    """

    texts: list[str]
    nats: list[float] | None

    def floor(self, count: int, tokens: int) -> float | None:
        """The lowest loss that is to be expected on the first `count` texts, nats per token.

        tokens: of these texts, the end of each counted.
        """
        return None if self.nats is None else sum(self.nats[:count]) / tokens


def stories(count: int, seed: int = SEED) -> list[str]:
    """Return new stories of tiny-world."""
    from llmviz.corpus.tiny_world import generate

    return [document.text for document in generate(count, seed)]


def knows_held_out(description: Mapping[str, Any]) -> bool:
    """Whether a description, as config.json has it, says on which texts `held_out` measures."""
    return "plan" in description or str(description["data"]["corpus"]) == "tiny-world"


def held_out(description: Mapping[str, Any], count: int) -> HeldOut:
    """Return up to `count` texts for a model with this description, as config.json has it.

    For tiny-world they are new stories; else the texts that its run kept apart. Raises ValueError
    where the corpus is not known or not here.
    """
    from llmviz.corpus.tiny_world import generate
    from llmviz.training.plan import documents_of, plan_of

    if str(description["data"]["corpus"]) == "tiny-world":
        documents = list(generate(count, SEED))
        return HeldOut([doc.text for doc in documents], [-doc.log_prob for doc in documents])
    _, kept = documents_of(plan_of(dict(description), "the model"))
    return HeldOut([str(text) for text in kept[:count]], None)


def learned(description: Mapping[str, Any], count: int) -> list[str] | None:
    """Return up to `count` texts that a model learned from; None: any stories of tiny-world.

    Raises ValueError where its corpus is not here.
    """
    from llmviz.training.plan import documents_of, plan_of

    if str(description["data"]["corpus"]) == "tiny-world":
        return None
    own, _ = documents_of(plan_of(dict(description), "the model"))
    return [str(text) for text in own[:count]]


def rows_of(tokenizer: Any, texts: list[str], length: int) -> list[Any]:
    """Return each text from its start as ids (1, T), T at most `length`, for a model to read."""
    import torch

    return [torch.tensor([tokenizer.encode_from_start(text)[:length]]) for text in texts]
