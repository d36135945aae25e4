"""What a training of every weight on questions changes, and how much of it a few patterns hold.

Makes what `llmviz.course.lessons.finetuning.lora.whole_change` reads.
"""

from __future__ import annotations

import copy
import dataclasses
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
from llmviz.course.lessons.finetuning.lora.whole_change import (
    COMMAND,
    FILE,
    HELD,
    KEPT,
    QUESTIONS,
    RANKS,
)
from llmviz.finetuning.plan import BASE, suited_training
from llmviz.finetuning.recipes import TUNINGS
from llmviz.nn.lora_config import TARGETS
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from torch import nn

SEED = 777_777  # of the questions; those of the training begin at 0


def changes(base: nn.Module, model: nn.Module) -> dict[str, np.ndarray]:
    """Return what a training added to each matrix that LoRA would stand beside."""
    now = dict(model.named_modules())
    return {
        path: (now[path].weight - module.weight).detach().double().numpy()
        for path, module in base.named_modules()
        if path.endswith(TARGETS) and hasattr(module, "weight")
    }


def cut_to(base: nn.Module, added: dict[str, np.ndarray], rank: int | None) -> Any:
    """Return the base with the strongest patterns of each change added; None: all of it."""
    import torch

    model = copy.deepcopy(base)
    with torch.no_grad():
        for path, change in added.items():
            u, s, v = np.linalg.svd(change, full_matrices=False)
            part = (u[:, :rank] * s[:rank]) @ v[:rank]
            model.get_parameter(f"{path}.weight").add_(torch.from_numpy(part).float())
    return model.eval()


def train() -> nn.Module:
    """Train every weight as the bundled adapter was trained, but for the rate that suits it."""
    from llmviz.finetuning.preparation import prepare
    from llmviz.training.run_folder import run_in_folder

    plan = TUNINGS["instructions"].plan
    rates = suited_training(plan.kind, "all")
    settings = dataclasses.replace(plan.train, **rates, device="cpu", threads=1)
    tuning = prepare(dataclasses.replace(plan, way="all", train=settings), COMMAND)
    with TemporaryDirectory() as folder:
        for _ in run_in_folder(folder, tuning.run):
            pass
    return tuning.body


def measure(to: Path) -> None:
    """Train, cut and write."""
    from llmviz.finetuning.instructions import instructions
    from llmviz.finetuning.preparation import share_right
    from llmviz.pretrained import load_bundled

    base, tokenizer, _ = load_bundled(BASE)
    added, asked = changes(base, train()), instructions(QUESTIONS, SEED)

    def right(rank: int | None) -> float:
        return share_right(cut_to(base, added, rank), tokenizer, asked)["right"]

    values = {path: np.linalg.svd(each, compute_uv=False) for path, each in added.items()}
    squares = {path: np.square(each) for path, each in values.items()}
    about = {
        "command": COMMAND,
        "questions": QUESTIONS,
        "right": {rank: right(rank) for rank in RANKS},
        "all": right(None),
        "values": {
            path: [round(float(x), 5) for x in each[:KEPT]] for path, each in values.items()
        },
        "held": {path: float(each[:HELD].sum() / each.sum()) for path, each in squares.items()},
    }
    write_json(to / FILE, about)


if __name__ == "__main__":
    write_to(measure, "Train every weight on questions and cut what it changed.")
