"""Units that count and that remember: found in a state of which it is known what each unit does."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from llmviz.course.lessons.history.recurrent.unit_roles import LATER, find_roles
from llmviz.tokenizers import train_tokenizer
from llmviz.trace import Tap, name_taps

# Of the even ones, on which units are searched, most begin with a; of the others most with b.
NAMES = ["abcde", "bcdeab", "adceb", "bdcae", "cadbe", "ceabd"] * 6
TOKENIZER = train_tokenizer("char", NAMES)


class Known(nn.Module):
    """Unit 0 counts letters, unit 1 holds the first one once `LATER` others came, 2 is noise."""

    context_length = 12

    def __init__(self) -> None:
        super().__init__()
        layer = nn.Module()
        layer.tap = Tap("hidden")
        self.layers = nn.ModuleList([layer])
        name_taps(self)

    def forward(self, idx: torch.Tensor) -> None:
        place = torch.arange(idx.shape[1]).expand(idx.shape)  # 0 is the start
        first = idx[:, 1:2].expand(idx.shape)
        noise = torch.rand(idx.shape, generator=torch.Generator().manual_seed(0))
        held = torch.where(place > LATER, first, 100 * noise)
        self.layers[0].tap(torch.stack((-2.0 * place, held, noise), dim=-1))


def test_the_counting_and_the_remembering_unit_are_found_and_measured_on_other_names():
    found = find_roles(Known(), TOKENIZER, NAMES)
    assert (found.counts, found.remembers) == (0, 1)
    assert found.correlation == pytest.approx(-1)
    assert found.explained == pytest.approx(1) and found.names == len(NAMES) // 2
    searched, other = NAMES[::2], NAMES[1::2]
    firsts = [name[0] for name in searched for _ in name[LATER:]]
    usual = max(set(firsts), key=firsts.count)
    asked = [name[0] for name in other for _ in name[LATER:]]
    assert found.usual == pytest.approx(asked.count(usual) / len(asked))
    assert found.usual != pytest.approx(firsts.count(usual) / len(firsts))
