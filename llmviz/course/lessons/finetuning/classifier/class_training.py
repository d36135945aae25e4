"""Training a classifier while somebody watches: what it reports, and the classifier that comes out.

N texts of the test, K classes.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from llmviz.course.lessons.finetuning.classifier.class_texts import parts
from llmviz.finetuning.labels import Labelled
from llmviz.finetuning.plan import BASE, CLASSES, TuningPlan, suited_training
from llmviz.training.config import TrainConfig

if TYPE_CHECKING:
    from llmviz.finetuning.classifier import Classifier

POINTS = 40  # of a curve, about
LOOKS = 5  # at the test texts, about; each yields the weights


@dataclass(frozen=True)
class ClassPlan:
    """What is trained, from what and on what.

    own: the learner's labelled texts; without them `task` and `reads` say which stories.
    steps: updates.
    """

    base: str = BASE
    task: str = "who"
    reads: str = "first"
    own: Labelled | None = None
    way: str = "head"
    examples: int = 300
    steps: int = 300
    seed: int = 0

    def settings(self) -> TrainConfig:
        """The settings of `train`: on one thread, so that a seed gives one result."""
        suited = suited_training(CLASSES, self.way)
        changes: dict[str, Any] = {
            **suited,
            "steps": self.steps,
            "warmup_steps": min(20, self.steps // 10),
            "log_every": max(1, self.steps // POINTS),
            "eval_every": max(1, self.steps // LOOKS),
            "eval_batches": 0,
            "checkpoint_every": 0,
            "seed": self.seed,
            "device": "cpu",
            "threads": 1,
        }
        return dataclasses.replace(TuningPlan().train, **changes)


class Begun(NamedTuple):
    """What is known before the first step."""

    counts: dict[str, int]  # of the training texts, by class
    tested: dict[str, int]  # of the test texts, by class
    trained: int  # numbers that may change
    parameters: int
    preparing: float  # seconds for reading the texts, and for the features of a head


class Point(NamedTuple):
    """One point of the curve; losses in nats per text, validation None where not measured."""

    step: int
    loss: float
    validation: float | None
    seconds: float


class Trained(NamedTuple):
    """The classifier after a step: the numbers that may change, and what it says of the test."""

    step: int
    weights: dict[str, np.ndarray]
    probabilities: np.ndarray  # (N, K)
    labels: np.ndarray  # (N,)
    texts: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def accuracy(self) -> float:
        """The share of the test texts that get their own class."""
        return float((self.probabilities.argmax(1) == self.labels).mean())

    @property
    def table(self) -> np.ndarray:
        """How often each class (rows) was called each class (columns), (K, K)."""
        from llmviz.finetuning.classifier import confusion

        chosen = self.probabilities.argmax(1)
        return confusion(self.labels.tolist(), chosen.tolist(), len(self.names)).numpy()


def training(plan: ClassPlan) -> Iterator[Begun | Point | Trained]:
    """Train a classifier and yield what happens; each `Trained` stands alone.

    Raises ValueError as `labels`, `classifier` and `train`.
    """
    from llmviz.finetuning.classifier import classifier, prepare_classes
    from llmviz.nn.lora import trained_parameters
    from llmviz.pretrained import load_bundled
    from llmviz.training import train

    begun = time.perf_counter()
    learned, test = parts(plan.task, plan.reads, plan.examples, plan.own)
    base, tokenizer, _ = load_bundled(plan.base)
    model = classifier(base, len(learned.names), plan.way, plan.seed)
    module, data = prepare_classes(model, tokenizer, learned, test, plan.way, plan.seed)
    numbers = sum(parameter.numel() for parameter in model.parameters())
    preparing = time.perf_counter() - begun
    yield Begun(learned.counts, test.counts, trained_parameters(model), numbers, preparing)
    settings = plan.settings()
    for record in train(module, data, settings):
        yield Point(record.step, record.train_loss, record.validation_loss, record.seconds)
        if record.validation_loss is not None:
            yield _state(plan, record.step, model, tokenizer, data.held_out, test)
            model.train()


def _state(
    plan: ClassPlan, step: int, model: Classifier, tokenizer: Any, held_out: Any, test: Labelled
) -> Trained:
    import torch

    from llmviz.finetuning.classifier import encode, predict

    model.eval()
    if plan.way == "head":
        with torch.inference_mode():
            chances = model.head(held_out[0])[0].softmax(-1)
    else:
        chances = predict(model, encode(tokenizer, test.texts, model.context_length))
    changed = {
        name: parameter.detach().numpy().copy()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    }
    labels = np.array(test.labels)
    return Trained(step, changed, chances.numpy(), labels, test.texts, test.names)


def rebuilt(base: Any, plan: ClassPlan, trained: Trained) -> Classifier:
    """Return the classifier of a `Trained` on a copy of its base, frozen and ready for use.

    The base's own numbers are used where none changed, so it must be the one of the plan.
    """
    import torch

    from llmviz.finetuning.classifier import classifier

    model = classifier(base, len(trained.names), plan.way, plan.seed)
    own = dict(model.named_parameters())
    with torch.no_grad():
        for name, values in trained.weights.items():
            own[name].copy_(torch.tensor(values))
    return model.eval().requires_grad_(False)


class Reading(NamedTuple):
    """What a classifier says of one text of T tokens, the end-of-text token first.

    without: how much the logit of the class falls when a token is left out (T,). gradient: its
    gradient × input (T,). left_out: tokens at the beginning that were not read.
    """

    ids: tuple[int, ...]
    probabilities: np.ndarray  # (K,)
    target: int
    without: np.ndarray
    gradient: np.ndarray
    left_out: int


def read(model: Classifier, tokenizer: Any, text: str, longest: int, target: int = -1) -> Reading:
    """Return what a classifier says of a text, and what each token gave to that.

    longest: tokens that are read, the last ones. target: the class that is explained, −1 the one
    that the classifier chooses. Raises ValueError for a text that cannot be encoded.
    """
    import torch

    from llmviz.finetuning.classifier import encode
    from llmviz.finetuning.explain import gradient_times_input, occlusion

    whole = len(tokenizer.encode_from_start(text))
    ids = encode(tokenizer, [text], min(longest, model.context_length)).idx[0]
    with torch.no_grad():
        chances = model(ids[None], torch.tensor([len(ids)]))[0][0].softmax(-1)
    target = int(chances.argmax()) if target < 0 else target
    without = occlusion(model, ids, target).numpy()
    gradient = gradient_times_input(model, ids, target).numpy()
    left_out = whole - len(ids)
    return Reading(tuple(ids.tolist()), chances.numpy(), target, without, gradient, left_out)
