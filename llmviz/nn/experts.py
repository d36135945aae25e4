"""A mixture of experts: several feed-forward networks, of which each token is sent to a few.

N tokens, C width, E experts, K experts a token is sent to.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from llmviz.nn.layers import FeedForward, ListOf
from llmviz.trace import Tap


class RoutingSteps(NamedTuple):
    """How each token gets its experts."""

    scores: Tensor  # (…, E) what the router says, before the softmax
    probabilities: Tensor  # (…, E) softmax of each row
    experts: Tensor  # (…, K) the K most probable ones, the best first
    shares: Tensor  # (…, K) their probabilities, divided by their sum where they are normalised
    weights: Tensor  # (…, E) the shares in the columns of their experts, 0 elsewhere


def route(scores: Tensor, k: int, *, normalised: bool = True) -> RoutingSteps:
    """Send each token to its k most probable experts; scores (…, E).

    normalised: the weights of a token sum to 1. With k = 1 that leaves the router no gradient, as
    its weight is always 1; not normalised, a weight is the probability itself, as in Switch.
    Raises ValueError for a k that is not from 1 to E.

    Reference: Jiang et al. 2024, "Mixtral of Experts", section 2.1; not normalised: Fedus et al.
    2021, "Switch Transformers", eq. 2.

    >>> route(torch.tensor([0.0, 2.0, 2.0]), 2).weights
    tensor([0.0000, 0.5000, 0.5000])
    """
    if not 1 <= k <= scores.shape[-1]:
        raise ValueError(f"k must be from 1 to {scores.shape[-1]}, the experts; got {k}")
    probabilities = scores.softmax(dim=-1)
    best, experts = probabilities.topk(k, dim=-1)
    shares = best / best.sum(dim=-1, keepdim=True) if normalised else best
    weights = torch.zeros_like(probabilities).scatter(-1, experts, shares)
    return RoutingSteps(scores, probabilities, experts, shares, weights)


def balance_loss(steps: RoutingSteps) -> Tensor:
    """How unevenly tokens are sent: 1 where all experts get the same, up to E where one gets all.

    E · Σ over experts of (its share of the tokens sent) · (its mean probability). The gradient
    goes through the probabilities alone: the shares are counts.

    Reference: Fedus et al. 2021, "Switch Transformers", eq. 4. Deviation: a token that goes to K
    experts counts 1/K for each.
    """
    n_expert = steps.probabilities.shape[-1]
    chosen = nn.functional.one_hot(steps.experts, n_expert).to(steps.probabilities.dtype)
    sent = chosen.flatten(0, -2).mean(dim=0)  # (E,) sums to 1
    probable = steps.probabilities.flatten(0, -2).mean(dim=0)  # (E,) sums to 1
    return n_expert * (sent * probable).sum()


class Experts(nn.Module):
    """E feed-forward networks beside each other; a router sends each token to K of them.

    The output is the sum of the K networks' outputs, weighted by their shares; see
    `route` for `normalised`. Each network computes only the tokens that are sent to it. Raises
    ValueError for a token that goes to no expert, or to more than there are.
    Taps: router (…, E) scores, routing (…, E) weights; experts.0.hidden and experts.0.act hold the
    rows of the tokens that expert 0 got, in their order.

    Reference: Shazeer et al. 2017, "Outrageously Large Neural Networks", eq. 1; Jiang et al. 2024.
    """

    def __init__(
        self,
        n_embd: int,
        hidden_size: int,
        activation: str,
        n_expert: int,
        per_token: int,
        *,
        bias: bool,
        normalised: bool = True,
    ):
        super().__init__()
        if not 1 <= per_token <= n_expert:
            raise ValueError(
                "a token must go to at least one expert and at most to all; "
                f"got {per_token} of {n_expert}"
            )
        self.n_expert, self.per_token, self.normalised = n_expert, per_token, normalised
        self.router = nn.Linear(n_embd, n_expert, bias=False)
        self.experts = ListOf(
            FeedForward(n_embd, hidden_size, activation, bias=bias) for _ in range(n_expert)
        )
        self.tap_router, self.tap_routing = Tap("router"), Tap("routing")

    def forward(self, x: Tensor, balances: list[Tensor] | None = None) -> Tensor:
        """(B, T, C) to (B, T, C); where `balances` is a list, the balance loss is added to it."""
        scores = self.tap_router(self.router(x))
        steps = route(scores, self.per_token, normalised=self.normalised)
        self.tap_routing(steps.weights)
        if balances is not None:
            balances.append(balance_loss(steps))
        rows = x.flatten(0, -2)  # (N, C)
        chosen, shares = steps.experts.flatten(0, -2), steps.shares.flatten(0, -2)  # (N, K)
        output = torch.zeros_like(rows)
        for number, expert in enumerate(self.experts):
            token, place = self._sent_to(number, chosen)
            part = expert(rows[token]) * shares[token, place, None]
            output = output.index_add(0, token, part.to(output.dtype))
        return output.view_as(x)

    def _sent_to(self, number: int, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Which tokens go to an expert, and as which of their K choices."""
        if chosen.is_meta:  # there is nothing to read, so each expert gets as many as any other
            some = chosen.new_empty(-(-chosen.numel() // self.n_expert))
            return some, some
        token, place = (chosen == number).nonzero(as_tuple=True)
        return token, place
