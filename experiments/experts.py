"""Models with eight experts on texts of four villages, with and without a balance loss.

Makes what `llmviz.course.lessons.next.experts.model` reads.
"""

from __future__ import annotations

import random
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments._command import write_to
from llmviz.corpus.villages import TOKENS, VILLAGES, ids_of, log_probability, text, texts
from llmviz.course.lessons.next.experts import STEPS
from llmviz.course.lessons.next.experts.model import (
    COMMAND,
    FILE,
    KINDS,
    ROUTED,
    SEEDS,
    Recorded,
    Run,
    given,
    learn,
    of_villages,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.interpretability.routing import router_scores, shared_bits
from llmviz.training.files import write_json

if TYPE_CHECKING:
    from llmviz.models.base import LanguageModel

NEW = 2_000  # texts that are measured


def measure(kind: str, seed: int, steps: int = STEPS[-1]) -> tuple[Run, LanguageModel]:
    """Train one model for some of the steps of its plan and measure it on the way."""
    import torch
    import torch.nn.functional as F

    written = texts(NEW, 2)
    names, new = [words[0] for words in written], torch.from_numpy(ids_of(written))
    dealt = np.random.default_rng(seed).permutation(names)
    floor = -sum(map(log_probability, written)) / (NEW * (TOKENS - 1))
    run, null = Run([], [], [], 0.0), 0.0
    for _, model in learn(kind, seed, steps):
        with torch.inference_mode():
            logits = model(new[:, :-1])[0]
        loss = F.cross_entropy(logits.transpose(1, 2), new[:, 1:])
        run.above.append(round(float(loss) - floor, 5))
        if kind in ROUTED:
            by_text, by_word = given(model, written)
            run.villages.append(of_villages(by_text, names).tolist())
            run.words.append(by_word.tolist())
            null = shared_bits(of_villages(by_text, dealt.tolist()))
    return Run(run.above, run.villages, run.words, round(null, 6)), model


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train and measure all models."""
    import torch
    from tqdm import tqdm

    from llmviz.models import count_parameters

    torch.set_num_threads(1)
    shown = {village: text(village, random.Random(3)) for village in VILLAGES}
    found = Recorded({}, NEW, {kind: [] for kind in KINDS}, shown, {})
    for kind in KINDS:
        for seed in tqdm(SEEDS, desc=kind):
            run, model = measure(kind, seed)
            found.runs[kind].append(run)
            found.parameters[kind] = count_parameters(model)
            if kind in ROUTED and seed == SEEDS[0]:
                scores = (
                    router_scores(model, torch.from_numpy(ids_of([*shown.values()])))
                    .round(4)
                    .tolist()
                )
                found.scores[kind] = dict(zip(shown, scores, strict=True))
    write_json(folder / FILE, {"command": COMMAND, **asdict(found)})


if __name__ == "__main__":
    write_to(make, "Train the models with experts, and those with one network for all.")
