"""A small student of the story model: it reads stories, or the teacher's distributions over them.

All students have one shape and the same tokenizer, and read equally many tokens. What differs is
the target of each place: the token that came, or what the teacher expects there.

S stories, T tokens, V vocabulary. Losses are in nats per token.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from llmviz.corpus.next_tokens import TrueTokens, true_tokens
from llmviz.evaluation.exact_loss import DividedLoss, divide_logits
from llmviz.training import small_models
from llmviz.training.held_out_texts import stories

if TYPE_CHECKING:
    import torch

    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer

TEACHER = "tiny-world-gpt"
LAYERS, HEADS, WIDTH, CONTEXT = 2, 4, 48, 256
BATCH, UPDATES, RATE, WARMUP = 4, 400, 4e-3, 40  # BATCH: stories of an update
EVERY = 80  # updates between two measurements
TESTS = 30  # new stories that a student is measured on
STORY_SEED = 50_000  # of the stories of the student with seed 0; the others' follow
GROUP = 64  # stories that the teacher writes from one request
TOP = 8
TEXT, WRITTEN, SOFT_1, SOFT_2, SOFT_4, TOP_ONLY = (
    "text",
    "written",
    "soft1",
    "soft2",
    "soft4",
    "top",
)


@dataclass(frozen=True)
class Way:
    """What a student learns from.

    written: the stories are samples of the teacher. temperature: of the teacher's distributions,
    None where the token that came is the target. top: so many tokens of each are kept.
    """

    written: bool = False
    temperature: float | None = None
    top: int | None = None


WAYS = {
    TEXT: Way(),
    WRITTEN: Way(written=True),
    SOFT_1: Way(temperature=1.0),
    SOFT_2: Way(temperature=2.0),
    SOFT_4: Way(temperature=4.0),
    TOP_ONLY: Way(temperature=1.0, top=TOP),
}


@cache
def teacher() -> tuple[GPT, Tokenizer]:
    """Return the teacher and its tokenizer. Raises ValueError where it is missing."""
    from llmviz.models.transformers import require_transformer
    from llmviz.pretrained import load_bundled

    model, tokenizer, _ = load_bundled(TEACHER)
    return require_transformer(model).eval(), tokenizer


def new_student(vocab_size: int) -> GPT:
    """Return a student with random weights, as torch's generator stands."""
    return small_models.new_gpt(
        vocab_size=vocab_size,
        context_length=CONTEXT,
        n_layer=LAYERS,
        n_head=HEADS,
        n_embd=WIDTH,
    )


@dataclass(frozen=True)
class Transfer:
    """The stories of a student as ids from the start token on, and the teacher's logits on each.

    logits: for each story (T, V) in float16, before each token behind the start; none where the
    tokens themselves are the targets.
    """

    ids: tuple[tuple[int, ...], ...]
    logits: tuple[torch.Tensor, ...] = ()

    @property
    def tokens(self) -> int:
        """How many targets they have."""
        return sum(len(ids) - 1 for ids in self.ids)


def new_stories(count: int, seed: int, without: str = "") -> list[str]:
    """Return new stories by the grammar; those with the word `without` are left out."""
    wanted: list[str] = []
    drawn = count
    while len(wanted) < count:
        drawn *= 2
        every = stories(drawn, STORY_SEED + seed)
        wanted = [story for story in every if not has_word(story, without)][:count]
    return wanted


def has_word(text: str, word: str) -> bool:
    """Return whether a text has a word; none has the empty one."""
    import re

    return bool(word) and re.search(rf"\b{re.escape(word)}\b", text) is not None


def written(count: int, seed: int) -> list[tuple[int, ...]]:
    """Let the teacher write stories at temperature 1; return their ids from the start token on."""
    from llmviz.finetuning.rollouts import sample_groups

    model, tokenizer = teacher()
    prompts = [[tokenizer.end]] * math.ceil(count / GROUP)
    groups = sample_groups(
        model, prompts, min(GROUP, count), CONTEXT - 1, tokenizer.end, (STORY_SEED + seed) * 1000
    )
    every = [ids for group in groups for ids in group]
    return [(tokenizer.end, *ids) for ids in every[:count]]


def transfer(way: Way, count: int, seed: int, without: str = "") -> Transfer:
    """Return what a student learns from: stories, and the teacher's logits where they are needed.

    Raises ValueError for no story, or for stories by the teacher without a word.
    """
    if count < 1:
        raise ValueError(f"a student needs at least 1 story; got {count}")
    if way.written:
        if without:
            raise ValueError("only stories by the grammar can be chosen by their words")
        return Transfer(tuple(written(count, seed)))
    given = _read_by_teacher(count, seed, without)
    return given if way.temperature else Transfer(given.ids)


@lru_cache(1)  # for the next way to learn from the same stories; 6 kB a token
def _read_by_teacher(count: int, seed: int, without: str) -> Transfer:
    end, encode = teacher()[1].end, teacher()[1].encode
    ids = tuple((end, *encode(text), end) for text in new_stories(count, seed, without))
    return Transfer(ids, teacher_logits(ids))


def teacher_logits(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, ...]:
    """Return the teacher's logits (T, V) in float16 before each token of stories but the first."""
    import torch

    model = teacher()[0]
    with torch.inference_mode():
        return tuple(model(torch.tensor([list(story[:-1])]))[0][0].half() for story in ids)


@lru_cache(2)
def tests(count: int = TESTS) -> tuple[TrueTokens, ...]:
    """Return new stories with the true distribution before each token."""
    return tuple(true_tokens(story, teacher()[1]) for story in stories(count))


def divided(model: GPT, truths: Sequence[TrueTokens]) -> list[DividedLoss]:
    """Return the parts of a student's loss on each story: what chance, and what it lacks."""
    import torch

    parts, end = [], teacher()[1].end
    with torch.inference_mode():
        for truth in truths:
            logits = model(torch.tensor([[end, *truth.ids[:-1]]]))[0][0]
            parts.append(divide_logits(logits.double().numpy(), truth))
    return parts


def excess(parts: Sequence[DividedLoss]) -> float:
    """Return the mean divergence from the grammar: the loss over the floor, without chance."""
    return float(np.concatenate([part.divergence for part in parts]).mean())


@dataclass(frozen=True)
class Point:
    """A student after so many updates.

    excess: its loss over the floor on new stories. learned: the mean of the loss that it learns by,
    since the last point; before the first update that of nothing, NaN.
    """

    step: int
    tokens: int
    excess: float
    learned: float
    seconds: float


def batch_loss(model: GPT, given: Transfer, places: Sequence[int], way: Way) -> torch.Tensor:
    """Return the loss of a student on some stories: by their tokens, or by the teacher's."""
    import torch

    from llmviz.nn.distillation import distillation_loss, soft_targets
    from llmviz.nn.loss import IGNORED

    longest = max(len(given.ids[at]) for at in places) - 1
    inputs = torch.zeros(len(places), longest, dtype=torch.long)
    targets = torch.full_like(inputs, IGNORED)
    for row, at in enumerate(places):
        ids = torch.tensor(given.ids[at])
        inputs[row, : len(ids) - 1], targets[row, : len(ids) - 1] = ids[:-1], ids[1:]
    if way.temperature is None:
        loss = model(inputs, targets)[1]
        assert loss is not None
        return loss
    logits = model(inputs)[0][targets != IGNORED]
    taught = torch.cat([given.logits[at] for at in places]).float()
    return distillation_loss(
        logits, soft_targets(taught, way.temperature, way.top), way.temperature
    )


def places_of(count: int, seed: int) -> Iterator[list[int]]:
    """Yield which of the stories come in each batch: all once in a random order, then all again."""
    rng, order = np.random.default_rng(seed), list[int]()
    while True:
        while len(order) < BATCH:
            order += rng.permutation(count).tolist()
        places, order = order[:BATCH], order[BATCH:]
        yield places


def learn(
    model: GPT, given: Transfer, way: Way, seed: int, updates: int = UPDATES
) -> Iterator[Point]:
    """Train a student; yield it at the start and after every EVERY updates, and at the end.

    A shorter training is the beginning of the whole one. Raises ValueError for no update, or more
    than UPDATES.
    """
    if not 1 <= updates <= UPDATES:
        raise ValueError(f"updates must be from 1 to {UPDATES}; got {updates}")
    begun, tokens = time.perf_counter(), 0
    losses: list[float] = []
    batches = [*islice(places_of(len(given.ids), seed), updates)]
    yield Point(0, 0, excess(divided(model.eval(), tests())), math.nan, 0.0)
    training = small_models.descend(
        model,
        lambda step: batch_loss(model.train(), given, batches[step], way),
        updates,
        of=UPDATES,
        rate=RATE,
        warmup=WARMUP,
    )
    for step, loss in enumerate(training, start=1):
        tokens += sum(len(given.ids[at]) - 1 for at in batches[step - 1])
        losses.append(loss)
        if step % EVERY == 0 or step == updates:
            now = excess(divided(model.eval(), tests()))
            yield Point(step, tokens, now, float(np.mean(losses)), time.perf_counter() - begun)
            losses.clear()


def student_run(name: str, count: int, seed: int = 0, updates: int = UPDATES) -> Iterator[Point]:
    """Train a student in a way of WAYS on so many stories; a job behind a page.

    Raises ValueError for a way that is not known.
    """
    import torch

    if name not in WAYS:
        raise ValueError(f"no way {name!r}; there are {', '.join(WAYS)}")
    given = transfer(WAYS[name], count, seed)
    torch.manual_seed(seed)
    yield from learn(new_student(teacher()[1].vocab_size), given, WAYS[name], seed, updates)
