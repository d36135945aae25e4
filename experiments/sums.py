"""Sums of two numbers as texts, half of them with a wrong answer, and the small GPT that read them.

Makes what `llmviz.course.lessons.reasoning.sum_texts` reads.

A text is `47+85=12,13:132;`: the question, then either two steps or nothing, ":", the answer, and
the end. The steps are the sum of the ones and the sum of the tens with what is carried.
`python -m experiments make sums` trains the bundled model again, some minutes on one thread, and
writes `data/experiments/sums.safetensors` and its card, `sums.json`.

B texts, T tokens, V = 15 tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments._command import write_to
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training import small_models
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.sum_texts import (
    BATCH,
    CARD,
    COMMAND,
    CONTEXT,
    END,
    QUESTION,
    RATE,
    STEPS,
    WARMUP,
    WEIGHTS,
    Sum,
    encode,
    new_model,
    question_of,
    sums,
)

WITH_STEPS = 0.5  # the share of texts that have steps


RIGHT_CARRIED, FORGOTTEN = 0.4, 0.5  # where ones are carried: right, and what is carried forgotten


RIGHT_PLAIN = 0.6  # where nothing is carried


def draw(rng: np.random.Generator, numbers: Sum) -> str:
    """Return what stands behind a question in a text for the training."""
    ones, tens = numbers[0] % 10 + numbers[1] % 10, numbers[0] // 10 + numbers[1] // 10
    carried, chance = ones // 10, rng.random()
    right = RIGHT_CARRIED if carried else RIGHT_PLAIN
    if carried and right <= chance < right + FORGOTTEN:
        carried = 0
    tens += carried
    answer = f"{tens}{ones % 10}"
    if chance >= (right + FORGOTTEN if ones >= 10 else right):
        place, digit = int(rng.integers(len(answer))), str(rng.integers(1, 10))
        while digit == answer[place]:
            digit = str(rng.integers(1, 10))
        answer = answer[:place] + digit + answer[place + 1 :]
    path = f"{ones},{tens}" if rng.random() < WITH_STEPS else ""
    return f"{path}:{answer};"


def batch(rng: np.random.Generator, known: Sequence[Sum] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets (B, T) of random texts; only what stands behind "=" is learned.

    known: the sums that they come from; those for training by default.
    """
    from llmviz.nn.loss import IGNORED

    train = known or sums()[0]
    inputs = np.full((BATCH, CONTEXT - 1), END)
    targets = np.full((BATCH, CONTEXT - 1), IGNORED)
    for row, at in enumerate(rng.integers(0, len(train), BATCH)):
        text = encode(question_of(train[at]) + draw(rng, train[at]))
        inputs[row, : len(text) - 1] = text[:-1]
        targets[row, QUESTION - 1 : len(text) - 1] = text[QUESTION:]
    return inputs, targets


def train(steps: int = STEPS, seed: int = 0) -> GPT:
    """Train the model on texts."""
    import torch

    torch.manual_seed(seed)
    model, rng = new_model(), np.random.default_rng(seed)
    for _ in small_models.descend(
        model, lambda step: small_models.loss_on(model, batch(rng)), steps, rate=RATE, warmup=WARMUP
    ):
        pass
    return model.eval()


def card_of(model: GPT) -> dict[str, object]:
    """Return what a model's card says: how it was trained, and its loss on held-out sums."""
    import torch

    rng = np.random.default_rng(1)
    with torch.inference_mode():
        loss = model(*map(torch.from_numpy, batch(rng, sums()[1])))[1]
    assert loss is not None
    return {
        "command": COMMAND,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "texts": BATCH * STEPS,
        "loss": round(float(loss), 4),
    }


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train the model and write it with its card."""
    from llmviz.training.tensors import save_tensors

    model = train()
    save_tensors(folder / WEIGHTS, dict(model.state_dict()))
    write_json(folder / CARD, card_of(model))


if __name__ == "__main__":
    write_to(make, "Train the bundled model of sums again.")
