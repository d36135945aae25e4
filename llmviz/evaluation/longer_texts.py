"""What a text does that is longer than any a model was trained on, by kind of positions.

T context length, N texts, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from llmviz.models.gpt import GPT
    from llmviz.tokenizers import Tokenizer

TEXTS, TIMES = 32, 3  # texts, and how many times the context each is long
SEED = 20_000  # of stories that no bundled model was trained on
EVERY = 8  # of the tokens behind the context, those that are read anew


@dataclass(frozen=True)
class LossBeyond:
    """Mean loss of a model, nats a token: near the end of its context, and beyond it.

    inside: on the second half of the context (T/2 to T). beyond: on as many tokens behind the
    context (T to 3T/2). far: on the last T of 3 T. from_last: every eighth token of `beyond`, when
    the model reads only the T tokens before it.
    """

    context: int
    inside: float
    beyond: float
    far: float
    from_last: float


def longer_copy(
    model: GPT, times: int = TIMES, changes: Mapping[str, Any] | None = None, seed: int = 0
) -> GPT:
    """Return a model with the same weights that reads `times` as many tokens.

    Sinusoidal and rotary positions are computed for every place. A learned table has no further
    rows: random numbers stand there, as all of it was before training. changes: of other settings.
    """
    import torch

    from llmviz.models.gpt import GPT

    settings: dict[str, Any] = {
        "context_length": times * model.config.context_length,
        **(changes or {}),
    }
    config = replace(model.config, **settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        longer = GPT(config).eval().requires_grad_(False)
    weights = dict(model.state_dict())
    if longer.position is not None:
        table = longer.position.weight.clone()
        table[: model.config.context_length] = weights["position.weight"]
        weights["position.weight"] = table
    longer.load_state_dict(weights)
    return longer


STRETCHES = ("plain", "linear", "ntk", "yarn")


def stretched_copy(model: GPT, times: int, way: str) -> GPT:
    """Return a rotary model with the same weights that reads `times` as many tokens.

    way: plain extrapolates; linear turns every pair `times` slower (position interpolation); ntk
    slows the slow pairs most, by a larger base; yarn slows what has not turned once in the context,
    and scales queries and keys, so that attention stays sharp. Weights stay as they are, so what
    was not trained on it may suffer.
    Raises ValueError for another way, or positions that are not rotary.
    """
    from llmviz.nn.positions import ntk_base, yarn_scaling, yarn_sharpening

    config = model.config
    if config.positions != "rotary":
        raise ValueError(f"only rotary positions can be stretched; got {config.positions!r}")
    if way not in STRETCHES:
        raise ValueError(f"the way must be one of {', '.join(STRETCHES)}; got {way!r}")
    changes: dict[str, dict[str, Any]] = {
        "plain": {},
        "linear": {"rotary_scaling": (float(times),)},
        "ntk": {"rotary_base": ntk_base(config.rotary_base, config.head_size, times)},
        "yarn": {"rotary_scaling": yarn_scaling(times, config.context_length)},
    }
    longer = longer_copy(model, times, changes[way])
    if way == "yarn":
        for name, buffer in longer.named_buffers():
            if name.endswith(("rotary.cos", "rotary.sin")):  # turned by both: queries and keys
                buffer.mul_(yarn_sharpening(times))
    return longer


def losses_by_position(model: GPT, ids: Tensor, size: int) -> np.ndarray:
    """Return the mean loss in texts (N, T + 1) by bins of `size` positions (T / size,), in nats."""
    import torch
    import torch.nn.functional as F

    with torch.inference_mode():
        logits = model(ids[:, :-1])[0]
        losses = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").double()
    return losses.view(len(ids), -1, size).mean((0, 2)).numpy()


def losses_within(model: GPT, ids: Tensor, size: int, *, keeps_first: bool) -> np.ndarray:
    """Return the loss of each token of texts (N, T + 1) but the first, seen from a window.

    size: how many tokens are seen, the last of them just before the one that is asked for.
    keeps_first: the first token of the text is seen, too. Returns nats (N, T).
    """
    import torch
    import torch.nn.functional as F

    place = torch.arange(ids.shape[1] - 1)
    mask = (place[:, None] >= place) & (place[:, None] - place < size)
    if keeps_first:
        mask[:, 0] = True
    with torch.inference_mode():
        x = model.token(ids[:, :-1])
        for block in model.blocks:
            x = block(x, mask, False, None)
        logits = model.head(model.norm_final(x))
        return F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").numpy()


def long_texts(tokenizer: Tokenizer, length: int, texts: int = TEXTS, seed: int = SEED) -> Tensor:
    """Return new stories of tiny-world, one behind the other, as ids (N, length + 1)."""
    import torch

    from llmviz.corpus.tiny_world import generate

    between = tokenizer.start or (tokenizer.end,)
    ids: list[int] = []
    for story in generate(texts * (length + 1), seed):  # a story has more than one token
        ids += [*between, *tokenizer.encode(story.text)]
        if len(ids) >= texts * (length + 1):
            break
    return torch.tensor(ids[: texts * (length + 1)]).view(texts, length + 1)


def loss_beyond(model: GPT, tokenizer: Tokenizer) -> LossBeyond:
    """Return how a model's loss changes behind the last place that it was trained on."""
    import torch
    import torch.nn.functional as F

    t = model.config.context_length
    ids = long_texts(tokenizer, TIMES * t)
    longer = longer_copy(model)
    with torch.inference_mode():
        logits, _ = longer(ids[:, :-1])
        losses = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none").numpy()
        half = t // 2
        last = []
        for at in range(t, t + half, EVERY):  # each of these tokens from the T before it
            logits, _ = model(ids[:, at + 1 - t : at + 1], last_only=True)
            last.append(F.cross_entropy(logits[:, -1], ids[:, at + 1]).item())
    return LossBeyond(
        t,
        float(losses[:, half:t].mean()),
        float(losses[:, t : t + half].mean()),
        float(losses[:, -t:].mean()),
        float(np.mean(last)),
    )
