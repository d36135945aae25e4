"""A reward model: a GPT whose head is one number, learned from which of two texts is preferred.

B pairs, N texts, T tokens, C = n_embd. The reward of a text is read at its last token. Only
differences of rewards are ever learned, so where zero lies says nothing.

References: Bradley and Terry 1952, "Rank Analysis of Incomplete Block Designs"; Christiano et al.
2017, "Deep Reinforcement Learning from Human Preferences", eq. 1; Ouyang et al. 2022,
"Training language models to follow instructions with human feedback", eq. 1, here for pairs alone.
Deviation: only the last block, the last norm and the head learn; the blocks below are the base's.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from llmviz.finetuning.classifier import ROWS, Texts, encode
from llmviz.models import GPT
from llmviz.nn.cache import KVCache
from llmviz.training.stream import Epochs

UPDATES_ROWS = 16  # pairs of an update
RATE, WEIGHT_DECAY = 1e-3, 0.01


class PairSteps(NamedTuple):
    """Every step of the loss, for B pairs, and what each reward is told by it."""

    difference: Tensor  # (B,) reward of the preferred text − reward of the other
    probability: Tensor  # (B,) σ(difference): how surely the preferred one is preferred
    nats: Tensor  # (B,) minus its logarithm
    loss: Tensor  # () their mean
    pull: (
        Tensor  # (B,) 1 − probability: how much the loss of the pair falls as the difference grows
    )


def pair_steps(preferred: Tensor, other: Tensor) -> PairSteps:
    """−ln σ(r(preferred) − r(other)), step by step, from the rewards (B,) of both texts.

    The gradient of a pair's loss is −pull for the preferred reward and +pull for the other.

    >>> pair_steps(torch.zeros(1), torch.zeros(1)).loss
    tensor(0.6931)
    """
    difference = preferred - other
    nats = -F.logsigmoid(difference)
    pull = (-difference).sigmoid()  # 1 − σ(d) without its cancellation
    return PairSteps(difference, difference.sigmoid(), nats, nats.mean(), pull)


class RewardTop(nn.Module):
    """What learns: a GPT's last block, its last norm, and a head without a bias."""

    def __init__(self, base: GPT, seed: int = 0) -> None:
        super().__init__()
        self.block = copy.deepcopy(base.blocks[-1]).requires_grad_(True)
        self.norm = copy.deepcopy(base.norm_final).requires_grad_(True)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.head = nn.Linear(base.config.n_embd, 1, bias=False)
            nn.init.normal_(self.head.weight, std=0.02)

    def forward(self, x: Tensor, lengths: Tensor, mask: Tensor | None, *, causal: bool) -> Tensor:
        """Rewards (N,) from what the block below wrote, x (N, T, C), and texts' lengths (N,)."""
        x = self.block(x, mask, causal, None, None, lengths - 1)
        return self.head(self.norm(x))[:, 0, 0]


def lower_part(base: GPT) -> GPT:
    """Return a copy of a GPT without its last block, norm and head: (N, T) ids to (N, T, C)."""
    body = copy.deepcopy(base).eval().requires_grad_(False)
    body.blocks = nn.ModuleList(list(body.blocks)[:-1])  # type: ignore[assignment]  # of blocks
    body.norm_final, body.head = nn.Identity(), nn.Identity()  # type: ignore[assignment]
    return body


def reward_gpt(base: GPT, top: RewardTop) -> GPT:
    """Return a copy of the base with what was learned: its "logits" are rewards, (N, T, 1)."""
    model = copy.deepcopy(base)
    model.blocks[len(model.blocks) - 1] = copy.deepcopy(top.block)
    model.norm_final = copy.deepcopy(top.norm)
    model.head = copy.deepcopy(top.head)
    return model.eval().requires_grad_(False)


class Read(NamedTuple):
    """Texts as the block below the last one wrote them, in half precision."""

    hidden: Tensor  # (N, T, C) float16
    lengths: Tensor  # (N,)

    def rows(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Some of them, (n, t, C) and (n,), without columns that are filler in all."""
        lengths = self.lengths[chosen]
        return self.hidden[chosen, : int(lengths.max())].float(), lengths

    def first(self, count: int) -> Read:
        """The first so many."""
        return Read(self.hidden[:count], self.lengths[:count])


@torch.no_grad()
def read_texts(lower: GPT, texts: Texts) -> Read:
    """Run the part that does not learn once, over texts in the order of their lengths."""
    kept = torch.zeros(*texts.idx.shape, lower.config.n_embd, dtype=torch.float16)
    for some in texts.lengths.argsort().split(ROWS):
        width = int(texts.lengths[some].max())
        kept[some, :width] = lower(texts.idx[some, :width])[0].half()
    return Read(kept, texts.lengths)


def read_pairs(lower: GPT, tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> tuple[Read, Read]:
    """Read the first and the second text of each pair."""
    first, second = zip(*pairs, strict=True)
    both = [encode(tokenizer, some, lower.context_length) for some in (first, second)]
    return read_texts(lower, both[0]), read_texts(lower, both[1])


def rewards_of(lower: GPT, top: RewardTop, read: Read) -> Tensor:
    """Return the reward of each text, (N,), without gradients."""
    found = torch.empty(len(read.lengths))
    with torch.no_grad():
        for some in read.lengths.argsort().split(4 * ROWS):
            found[some] = _rewards(lower, top, read, some)
    return found


def _rewards(lower: GPT, top: RewardTop, read: Read, some: Tensor) -> Tensor:
    hidden, lengths = read.rows(some)
    mask, causal = lower.visible(torch.empty(hidden.shape[:2], dtype=torch.long))
    return top(hidden, lengths, mask, causal=causal)


def learn_preferences(
    base: GPT,
    lower: GPT,
    both: tuple[Read, Read],
    first_preferred: Sequence[bool],
    updates: int,
    seed: int = 0,
) -> RewardTop:
    """Learn which of two texts was preferred; return what learned.

    both: the texts of N pairs. first_preferred: what the labeller said of each. Each pair comes
    once an epoch. The rate rises over a tenth of the updates and falls to 0.

    Raises ValueError for no pair, or labels that are not one for each.
    """
    count = len(both[0].lengths)
    if not count or count != len(first_preferred):
        raise ValueError(f"each pair needs one label; got {count} and {len(first_preferred)}")
    top, order = RewardTop(base, seed), Epochs(count, seed)
    sign = torch.tensor([1.0 if preferred else -1.0 for preferred in first_preferred])
    optimizer = torch.optim.AdamW(top.parameters(), RATE, weight_decay=WEIGHT_DECAY)
    rise = max(1, updates // 10)
    for step in range(1, updates + 1):
        some = torch.from_numpy(order.rows(step, min(UPDATES_ROWS, count)))
        first, second = (_rewards(lower, top, read, some) for read in both)
        pair = sign[some] * (first - second)
        loss = pair_steps(pair, torch.zeros_like(pair)).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(top.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = RATE * min(step / rise, (updates - step + 1) / updates)
        optimizer.step()
    return top.eval().requires_grad_(False)


class Endings:
    """Rewards of many endings of one story, which is read once.

    model: from `reward_gpt`. Of a story that is too long its end is kept.
    """

    def __init__(self, model: GPT, tokenizer: Any, story: str, longest: int) -> None:
        self.model, self.tokenizer, self.longest = model, tokenizer, longest
        room = max(1, model.context_length - longest)
        front = tokenizer.encode_from_start("")
        self.ids = (front + tokenizer.encode(story))[-room:] or [tokenizer.end]
        with torch.inference_mode():
            self._read = model.new_cache()
            model(torch.tensor([self.ids]), cache=self._read)

    def tokens(self, ending: str) -> list[int]:
        """The ids of an ending, `longest` at most; that of a full stop's end for an empty one."""
        joined = f" {ending}" if ending else ""
        return self.tokenizer.encode(joined)[: self.longest]

    def token_rewards(self, endings: Sequence[str]) -> list[Tensor]:
        """The reward after each token of each ending: of the text if it stopped there.

        The first number of each is that of the story alone.
        """
        rows = [[self.ids[-1], *self.tokens(ending)] for ending in endings]
        width, start = max(map(len, rows)), len(self.ids) - 1
        idx = torch.full((len(rows), width), self.tokenizer.end)
        for at, ids in enumerate(rows):
            idx[at, : len(ids)] = torch.tensor(ids)
        with torch.inference_mode():
            found = self.model(idx, cache=self._cache(len(rows), start + width))[0][..., 0]
        return [rewards[: len(ids)] for rewards, ids in zip(found, rows, strict=True)]

    def rewards(self, endings: Sequence[str]) -> list[float]:
        """The reward of the story with each ending."""
        return [float(rewards[-1]) for rewards in self.token_rewards(endings)]

    def _cache(self, rows: int, room: int) -> KVCache:
        """The story, all but its last token, for so many endings."""
        config, kept = self.model.config, len(self.ids) - 1
        cache = KVCache(config.n_layer, rows, config.kv_heads, room, config.head_size)
        for own, read in zip(
            cache.keys + cache.values, self._read.keys + self._read.values, strict=True
        ):
            own[:, :, :kept] = read[:, :, :kept]
        cache.length = kept
        return cache
