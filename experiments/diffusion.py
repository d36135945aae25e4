"""Models that fill in first sentences of stories in any order, and twins from left to right.

Makes what `llmviz.course.lessons.next.diffusion.model` reads.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments._command import write_to
from llmviz.corpus.openings import EMPTY, cut, is_right, nats_by_opening, rows_of, sentences
from llmviz.course.lessons.next.diffusion.model import (
    COMMAND,
    FILE,
    FILLS,
    FOLLOWS,
    KINDS,
    SEEDS,
    STEPS,
    TOKENS,
    WEIGHTS,
    Recorded,
    Trained,
    new_model,
    write_on,
)
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.sampling.unmasking import ORDERS
from llmviz.training.files import write_json
from llmviz.training.small_models import descend

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.base import LanguageModel

SENTENCES, NEW = 30_000, 2_000  # learned, and measured
FIRST_NEW = 90_000  # seed of the latter
UPDATES, BATCH, WARM_UP, RATE = 3_500, 64, 200, 3e-3
TEXTS = 500  # written in each case


def vocabulary() -> list[str]:
    """Return the tokens of the sentences; an empty place is the last."""
    return [*sorted({token for text in sentences(SENTENCES, 1) for token in cut(text)}), EMPTY]


def loss_of(model: LanguageModel, kind: str, ids: Tensor, generator: Any) -> Tensor:
    """Return the nats of each text (N,): a bound of them, drawn, for what fills in."""
    import torch
    import torch.nn.functional as F

    from llmviz.models.masked_diffusion import drawn_bounds

    mask_id = model.config.vocab_size - 2
    if kind == FILLS:
        return drawn_bounds(lambda rows: model(rows)[0], ids, mask_id, generator)
    read = torch.cat([torch.full_like(ids[:, :1], mask_id), ids[:, :-1]], 1)
    logits = model(read)[0][..., :mask_id]
    return F.cross_entropy(logits.transpose(1, 2), ids, reduction="none").sum(1)


def train(kind: str, words: list[str], rows: Tensor, seed: int, updates: int) -> LanguageModel:
    """Train one model; its weights are rounded to float16 at the end."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = new_model(kind, words)
    generator = torch.Generator().manual_seed(seed)

    def loss_at(_: int) -> Tensor:
        batch = rows[torch.randint(len(rows), (BATCH,), generator=generator)]
        return loss_of(model, kind, batch, generator).mean() / TOKENS

    rises: dict[str, Any] = {"rate": RATE, "warmup": WARM_UP, "floor": 0.01}
    for _ in descend(model, loss_at, updates, **rises, betas=(0.9, 0.99)):
        pass
    return model.half().float().eval()


def nats_in_orders(model: LanguageModel, ids: Tensor, generator: Any) -> Tensor:
    """Return −ln p of each text (N,), each filled in one token a step in an order drawn for it.

    Over the orders its mean is the bound that `exact_bound` computes, and it varies far less than
    the loss that is learned.
    """
    import torch

    mask_id, rows = model.config.vocab_size - 2, torch.arange(len(ids))
    orders = torch.rand(ids.shape, generator=generator).argsort(1)
    read, nats = torch.full_like(ids, mask_id), torch.zeros(len(ids))
    with torch.inference_mode():
        for places in orders.T:
            logits = model(read)[0][rows, places, :mask_id]
            nats -= logits.log_softmax(-1)[rows, ids[rows, places]]
            read[rows, places] = ids[rows, places]
    return nats


def broken_share(
    model: LanguageModel, words: list[str], steps: int, order: str, seed: int
) -> float:
    """Return the share of texts, filled in so, that the grammar cannot write."""
    import torch

    from llmviz.sampling.unmasking import unmask

    generator, wrong, mask_id = torch.Generator().manual_seed(seed), 0, len(words)
    for _ in range(TEXTS):
        *_, last = unmask(
            lambda i: model(i)[0], [mask_id] * TOKENS, steps, mask_id, order, generator
        )
        wrong += not is_right([words[i] for i in last.ids])
    return wrong / TEXTS


def measure(
    words: list[str], seed: int, updates: int = UPDATES
) -> tuple[Trained, dict[str, LanguageModel]]:
    """Train a seed's two models and measure them; return these by kind, too."""
    import torch

    rows = torch.from_numpy(rows_of(sentences(SENTENCES, 1), words, TOKENS))
    texts = sentences(NEW, FIRST_NEW)
    new = torch.from_numpy(rows_of(texts, words, TOKENS))
    models = {kind: train(kind, words, rows, seed, updates) for kind in KINDS}
    model, twin = models[FILLS], models[FOLLOWS]
    by_opening = nats_by_opening()
    entropy = float(np.mean(list(by_opening.values())))
    truth = torch.tensor([by_opening[text.split()[0]] for text in texts])
    generator = torch.Generator().manual_seed(seed)
    above = nats_in_orders(model, new, generator) - truth
    with torch.inference_mode():
        twin_above = loss_of(twin, FOLLOWS, new, generator) - truth
    broken = {
        order: {str(steps): broken_share(model, words, steps, order, seed) for steps in STEPS}
        for order in ORDERS
    }
    written = write_on(twin, len(words), TEXTS, seed)[0].tolist()
    return Trained(
        entropy + float(above.mean()),
        float(above.std() / math.sqrt(len(above))),
        entropy + float(twin_above.mean()),
        broken,
        sum(not is_right([words[i] for i in row]) for row in written) / TEXTS,
    ), models


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train all models; write the record, and the first one of each kind."""
    import torch
    from tqdm import tqdm

    from llmviz.models import count_parameters
    from llmviz.training.tensors import save_tensors

    torch.set_num_threads(1)
    words, seeds = vocabulary(), []
    for seed in tqdm(SEEDS):
        trained, models = measure(words, seed)
        seeds.append(trained)
        if seed == SEEDS[0]:
            weights = {
                f"{kind}.{name}": tensor
                for kind, model in models.items()
                for name, tensor in model.state_dict().items()
            }
            save_tensors(folder / WEIGHTS, weights, torch.float16)
    entropy = float(np.mean(list(nats_by_opening().values())))
    content = Recorded(words, count_parameters(models[FILLS]), UPDATES, TEXTS, entropy, seeds)
    write_json(folder / FILE, {"command": COMMAND, **asdict(content)})


if __name__ == "__main__":
    write_to(make, "Train the models that fill in sentences, and their twins.")
