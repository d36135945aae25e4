"""A real model that learns a text by LoRA: what it writes before and after, and what it forgot."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from llmviz.course.lessons.real import words as lesson_words
from llmviz.course.lessons.real.capitals import COUNTRIES, is_right
from llmviz.course.lessons.real.knows.model import SHOWN
from llmviz.course.lessons.real.reader import Reads, ids_of, words_after, written

STEPS = 40
RANK = 8
RATE = 1e-3
BATCH, LENGTH = 2, 64  # texts of a step, tokens of each
WRITES = 30  # tokens that it writes to be looked at
LOOKS = 10  # steps between two looks
MOST = 20_000  # tokens of a text
LEAST = 20


class Moment(NamedTuple):
    """After so many steps: the loss of the last batch, what it writes, and the time until here."""

    step: int
    loss: float
    writes: str
    seconds: float


class Forgot(NamedTuple):
    """How many capitals of how many it names, before and after."""

    asked: int
    before: int
    after: int


class Taught(NamedTuple):
    """A whole training."""

    moments: tuple[Moment, ...]
    forgot: Forgot


def teach(text: str, prompt: str, steps: int = STEPS, seed: int = 0) -> Iterator[Moment | Forgot]:
    """Teach the real model a text, in a process of its own: see `taught`."""
    from llmviz.pretrained import obtained

    reader: Any = obtained("smollm2")
    yield from taught(reader, text, prompt, steps, seed)


def checked(reader: Reads, text: str, prompt: str) -> tuple[list[int], list[int]]:
    """Return both as tokens. Raises ValueError: one cannot be read, or the text is too short."""
    ids, start = ids_of(reader, text, MOST), ids_of(reader, prompt)
    if len(ids) < LEAST:
        raise ValueError(lesson_words.refused["short"].format(count=len(ids), least=LEAST))
    return ids, start


def taught(
    reader: Reads, text: str, prompt: str, steps: int = STEPS, seed: int = 0
) -> Iterator[Moment | Forgot]:
    """Yield moments of a training on a text, the first before it, and at the end what it forgot.

    Only the adapter learns; the model's own numbers stay. Raises ValueError: the text is too short
    or cannot be read.
    """
    import torch

    from llmviz.nn.lora import add_adapter
    from llmviz.nn.lora_config import LoraConfig

    learned, start = checked(reader, text, prompt)
    ids = torch.tensor(learned)
    length = min(LENGTH, len(ids) - 1)
    before = right_capitals(reader)
    begun = time.perf_counter()

    def moment(step: int, loss: float) -> Moment:
        writes = reader.tokenizer.decode(written(reader, start, WRITES))
        return Moment(step, loss, writes, time.perf_counter() - begun)

    add_adapter(reader.model, LoraConfig(rank=RANK, alpha=2.0 * RANK), seed=seed)
    adapted = [p for p in reader.model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(adapted, lr=RATE, weight_decay=0.0)
    generator = torch.Generator().manual_seed(seed)

    def batch() -> tuple[torch.Tensor, torch.Tensor]:
        places = torch.randint(len(ids) - length, (BATCH,), generator=generator)
        rows = torch.stack([ids[place : place + length + 1] for place in places.tolist()])
        return rows[:, :-1], rows[:, 1:]

    with torch.no_grad():
        idx, targets = batch()
        yield moment(0, float(_loss(reader, idx, targets)))
    for step in range(1, steps + 1):
        idx, targets = batch()
        loss = _loss(reader, idx, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writes = step % LOOKS == 0 or step == steps
        yield (
            moment(step, loss.item())
            if writes
            else Moment(step, loss.item(), "", time.perf_counter() - begun)
        )
    yield Forgot(len(COUNTRIES), before, right_capitals(reader))


def whole(reader: Reads, text: str, prompt: str) -> Taught:
    """Return a training to its end. The reader's model holds the adapter afterwards."""
    told = list(taught(reader, text, prompt))
    moments = tuple(each for each in told if isinstance(each, Moment))
    (forgot,) = (each for each in told if isinstance(each, Forgot))
    return Taught(moments, forgot)


def _loss(reader: Reads, idx, targets):
    import torch

    logits = reader.model(idx)[0]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def right_capitals(reader: Reads) -> int:
    """Return how many capitals the model names behind an example."""
    said = words_after(reader, [SHOWN.format(country=country.name) for country in COUNTRIES])
    return sum(
        is_right(country, choice.text) for country, choice in zip(COUNTRIES, said, strict=True)
    )
