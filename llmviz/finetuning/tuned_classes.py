"""What the fine-tuning of a classifier left in its folder, ready for use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from llmviz.finetuning.classifier import Classifier, encode, predict
from llmviz.finetuning.tuned import load_classifier
from llmviz.pretrained import find_base
from llmviz.tokenizers import Tokenizer


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
    model, trained, names = load_classifier(folder, find_base)
    return Classes(model, trained.tokenizer, names)
