"""Masked diffusion: learning to fill in texts of which any share, from none to all, is masked.

B batch, T time, V text tokens. Ids of text lie below mask_id; that id and any above it (padding)
are no text, and logits of them do not count. So a BERT, whose last two ids are no text, fits.
What predicts is any function of ids (B, T) that returns logits (B, T, V or more) of the token at
each position, from what is not masked on both sides.

Reference: Austin et al. 2021, "Structured Denoising Diffusion Models in Discrete State-Spaces",
absorbing state; Sahoo et al. 2024, "Simple and Effective Masked Diffusion Language Models", and
Shi et al. 2024, "Simplified and Generalized Masked Diffusion for Discrete Data", for the bound in
continuous time, here with the linear schedule: at time t a token is masked with probability t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

MOST_TOKENS = 12  # of a text whose 2^T − 1 masks are all summed
ROWS = 1024  # of them in one forward pass

Predictor = Callable[[Tensor], Tensor]  # ids (B, T) -> logits (B, T, V or more)


def sample_times(batch: int, generator: torch.Generator | None = None) -> Tensor:
    """Draw a time t in (0, 1] for each row of a batch, (B,) float64, evenly spread over the batch.

    Row i draws uniformly from (i/B, (i + 1)/B]. A row of the batch picked at random has a uniform
    t, so the mean loss stays the same, but it varies less than with B independent times.
    Raises ValueError for a batch below 1.
    Reference: Kingma et al. 2021, "Variational Diffusion Models"; they share one random number
    among all rows.
    """
    if batch < 1:
        raise ValueError(f"batch must be 1 or more; got {batch}")
    u = torch.rand(batch, generator=generator, dtype=torch.float64)
    return (torch.arange(1, batch + 1) - u) / batch


def mask_tokens(
    ids: Tensor, t: Tensor, mask_id: int, generator: torch.Generator | None = None
) -> Tensor:
    """Return which tokens of ids (B, T) to mask, bool (B, T): each with its row's probability t.

    The model then reads `torch.where(masked, mask_id, ids)`. What is no text is never masked.
    Raises ValueError as `diffusion_loss_steps` for t (B,).
    """
    _check_times(t, ids)
    u = torch.rand(ids.shape, generator=generator, dtype=torch.float64)
    return (ids < mask_id) & (u < t[:, None])


class DiffusionSteps(NamedTuple):
    """Every step of the masked-diffusion loss, in nats."""

    nats: Tensor  # (B, T) −ln p of each masked token, 0 where the token is seen
    bounds: Tensor  # (B,) their sum in each row, divided by its t
    loss: Tensor  # () the mean over the rows: per text, not per token


def diffusion_loss_steps(
    logits: Tensor, ids: Tensor, masked: Tensor, t: Tensor, mask_id: int
) -> DiffusionSteps:
    """The masked-diffusion loss; averaged over t and masks, it is at least −ln p of the text.

    logits (B, T, V or more) of what reads the masked text; ids (B, T), the text itself;
    masked (B, T) bool; t (B,), with which it was drawn. A row with nothing masked has bound 0.
    p is what sampling one token a step in random order gives the text. The loss says nothing of
    sampling in fewer steps.

    >>> logits, ids, masked = torch.zeros(1, 2, 2), torch.tensor([[0, 1]]), torch.tensor([[0, 1]])
    >>> diffusion_loss_steps(logits, ids, masked == 1, torch.tensor([0.5]), 2).bounds
    tensor([1.3863])

    Raises ValueError for shapes that do not match, a t outside (0, 1], or a masked id that is no
    text.
    Reference: Sahoo et al. 2024 and Shi et al. 2024, whose weight −α′/(1 − α) is 1/t for
    α = 1 − t.
    """
    _check_times(t, ids)
    if logits.shape[:-1] != ids.shape or masked.shape != ids.shape:
        raise ValueError(
            f"logits and masked must have the shape {tuple(ids.shape)} of the ids; "
            f"got {tuple(logits.shape[:-1])} and {tuple(masked.shape)}"
        )
    wrong = ids[masked & ((ids < 0) | (ids >= mask_id))]
    if len(wrong):
        raise ValueError(f"masked tokens must have ids from 0 to {mask_id - 1}; got {wrong[0]}")
    nats = _nats(logits, ids, masked, mask_id)
    bounds = nats.sum(1) / t.to(nats)
    return DiffusionSteps(nats, bounds, bounds.mean())


def drawn_bounds(
    predict: Predictor, ids: Tensor, mask_id: int, generator: torch.Generator | None = None
) -> Tensor:
    """Return a bound of −ln p of each text (B,), at a time and with masks drawn for it.

    ids (B, T). Raises ValueError as `diffusion_loss_steps`.
    """
    t = sample_times(len(ids), generator)
    masked = mask_tokens(ids, t, mask_id, generator)
    logits = predict(torch.where(masked, mask_id, ids))
    return diffusion_loss_steps(logits, ids, masked, t, mask_id).bounds


class ExactBound(NamedTuple):
    """The masked-diffusion bound of one text, summed over all masks instead of sampled."""

    by_masked: Tensor  # (T,) float64; entry m − 1: mean nats of a masked token when m are masked
    bound: float  # their sum, in nats


def exact_bound(predict: Predictor, ids: Tensor, mask_id: int) -> ExactBound:
    """Compute the expected masked-diffusion loss of one text (T,) exactly, from its 2^T − 1 masks.

    Over all t, a set of m positions is masked with weight ∫ tᵐ⁻¹(1 − t)ᵀ⁻ᵐ dt = 1/(m · C(T, m)).
    So the bound is the sum over m of the mean nats of a masked token when m are masked. It equals
    the mean, over all orders of writing the text one token a step, of −ln p. Where each order gives
    the text the same p, as true conditionals do, the bound is exactly −ln p.

    Raises ValueError for a text that is empty, longer than `MOST_TOKENS`, or holds what is no text.
    Reference: Ou et al. 2024, "Your Absorbing Discrete Diffusion Secretly Models the Conditional
    Distributions of Clean Data", for the mean over orders.
    """
    if ids.dim() != 1 or not 1 <= len(ids) <= MOST_TOKENS:
        raise ValueError(
            f"all masks are summed for a text of 1 to {MOST_TOKENS} tokens; got {tuple(ids.shape)}"
        )
    if not 0 <= ids.min() <= ids.max() < mask_id:
        raise ValueError(f"token ids must be from 0 to {mask_id - 1}; got {ids.tolist()}")
    tokens = len(ids)
    masks = (torch.arange(1, 2**tokens)[:, None] >> torch.arange(tokens)) & 1 == 1  # (2^T − 1, T)
    by_masked = torch.zeros(tokens, dtype=torch.float64)
    with torch.no_grad():
        for masked in masks.split(ROWS):
            logits = predict(torch.where(masked, mask_id, ids))
            nats = _nats(logits, ids.expand(masked.shape), masked, mask_id).double().sum(1)
            count = masked.sum(1)
            by_masked.index_add_(0, count - 1, nats / count)
    sets = [math.comb(tokens, count) for count in range(1, tokens + 1)]
    by_masked /= torch.tensor(sets)
    return ExactBound(by_masked, float(by_masked.sum()))


def true_conditionals(joint: Tensor) -> Predictor:
    """Return the perfect predictor of a known joint distribution (V, …, V), an axis a position.

    It takes ids (B, T) in which V is the mask, and returns logits (B, T, V) in float64: of each
    position, the distribution of its token given what is seen at the others. Where that cannot
    occur in the joint, every token is equally likely.
    Raises ValueError unless the axes are equally long and the probabilities sum to 1.
    """
    total = joint.double().sum()
    if len(set(joint.shape)) != 1 or (joint < 0).any() or not abs(total - 1) < 1e-6:
        raise ValueError(
            "a joint has an axis of V tokens for each position, and probabilities of sum 1; "
            f"got the shape {tuple(joint.shape)} and sum {total:g}"
        )
    size, positions = joint.shape[0], torch.arange(joint.dim())
    seen = joint.double()  # grows to (V + 1, …, V + 1): index V of an axis sums over its tokens
    for axis in range(joint.dim()):
        seen = torch.cat([seen, seen.sum(axis, keepdim=True)], axis)

    def predict(ids: Tensor) -> Tensor:
        rows = ids[:, None, None].repeat(1, len(positions), size, 1)  # (B, T, V, T)
        rows[:, positions, :, positions] = torch.arange(size)
        p = seen[tuple(rows.movedim(-1, 0))]  # (B, T, V), up to a factor
        return torch.where(p.sum(-1, keepdim=True) > 0, p, 1.0).log()

    return predict


def _nats(logits: Tensor, ids: Tensor, masked: Tensor, mask_id: int) -> Tensor:
    """−ln p of the masked tokens among those of text, 0 at the other positions, (B, T)."""
    text = logits[..., :mask_id]
    log_p = text.to(torch.promote_types(text.dtype, torch.float32)).log_softmax(-1)
    nats = -log_p.gather(-1, torch.where(masked, ids, 0)[..., None])[..., 0]
    return torch.where(masked, nats, 0.0)


def _check_times(t: Tensor, ids: Tensor) -> None:
    if t.shape != ids.shape[:1] or ids.dim() != 2:
        raise ValueError(
            f"ids have the shape (batch, time) and there is a t for each row; "
            f"got {tuple(ids.shape)} and {tuple(t.shape)}"
        )
    wrong = t[~((t > 0) & (t <= 1))]
    if len(wrong):
        raise ValueError(f"t must be above 0 and at most 1; got {wrong[0]:g}")
