"""Every option of the GPT is really trained: rows that repeat themselves must be learned."""

import math

import pytest
import torch

from llmviz.models import build
from llmviz.models.settings import ACTIVATIONS, NORM_KINDS, NORMS, POSITIONS
from tests.models.test_gpt import OPTIONS

V, PERIOD, T = 6, 3, 12
LEAKS = dict(softmax_before_mask="leave")  # it is not causal: it may look the answer up
TRAINED = [OPTIONS[0], OPTIONS[3], OPTIONS[10], *OPTIONS[12:]]
TRAINED.remove(LEAKS)
TRAINED += [
    dict(norm_kind="rms", positions="rotary"),
    dict(n_kv_head=1),
    dict(window=4),
    dict(n_expert=4),
]
CHOICES = {
    "positions": POSITIONS,
    "norm": NORMS,
    "norm_kind": NORM_KINDS,
    "activation": ACTIVATIONS,
}
for setting, values in CHOICES.items():
    tried = {one.get(setting) for one in TRAINED}
    TRAINED += [{setting: value} for value in values if value not in tried]


def rows(generator: torch.Generator) -> torch.Tensor:
    """Random triples, each said over and over: from the fourth token on all can be known."""
    start = torch.randint(V, (32, PERIOD), generator=generator)
    return start.repeat(1, T // PERIOD + 1)[:, : T + 1]


@pytest.mark.parametrize("options", TRAINED, ids=str)
def test_it_learns_what_only_context_can_tell(options):
    """No single token tells the next one: below ln V / 2 the model must look back."""
    torch.manual_seed(0)
    settings = dict(vocab_size=V, context_length=T, n_layer=2, n_head=2, n_embd=32)
    model = build("gpt", {**settings, **options})
    rate = 5e-3 if options.get("residual", True) else 2e-3  # nothing carries a large step past
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for step in range(1000):
        text = rows(generator)
        targets = text[:, 1:].clone()
        targets[:, : PERIOD - 1] = -1  # the first triple is chance
        loss = model(text[:, :-1], targets)[1]
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if sum(losses[-5:]) / 5 < math.log(V) / 2 and step > 5:
            return
    pytest.fail(f"after {len(losses)} steps the loss is {losses[-1]:.3f}")
