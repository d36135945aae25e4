"""What the fine-tuning of a classifier left in its folder, ready for use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from llmviz.finetuning.classifier import Classifier, classifier, encode, predict
from llmviz.finetuning.plan import CLASSES
from llmviz.finetuning.tuned import base_of, plan_of_tuning, take_weights
from llmviz.models import GPT
from llmviz.pretrained import find_base
from llmviz.tokenizers import Tokenizer
from llmviz.training.errors import CheckpointError
from llmviz.training.reading import CONFIG


@dataclass(frozen=True)
class Classes:
    """A trained classifier with its tokenizer and the names of its classes."""

    model: Classifier
    tokenizer: Tokenizer
    names: tuple[str, ...]

    def probabilities(self, texts: list[str]) -> Tensor:
        """How probable each class is for each text, (N, K)."""
        return predict(self.model, encode(self.tokenizer, texts, self.model.context_length))


def load_classes(folder: Path) -> Classes:
    """The classifier of a fine-tuning. Raises CheckpointError where it is damaged or none."""
    plan, description = plan_of_tuning(folder)
    if plan.kind != CLASSES:
        raise CheckpointError(f"{folder} was trained for {plan.task}; it tells no classes apart")
    names = description.get("data", {}).get("classes")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise CheckpointError(f"{folder / CONFIG} does not name its classes")
    trained = base_of(folder, plan, description, find_base)
    assert isinstance(trained.model, GPT)
    model = classifier(trained.model, len(names), plan.way, plan.train.seed, plan.lora)
    take_weights(folder, model.head if plan.way == "head" else model)
    return Classes(model.eval(), trained.tokenizer, tuple(names))
