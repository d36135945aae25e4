"""The ledger sums to the logit, and an entry is what the part added."""

import pytest
import torch

from llmviz.interpretability.attribution import logit_ledger
from llmviz.models import GPT, GPTConfig
from llmviz.nn.attention import heads_off
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("against", [None, 11])
@pytest.mark.parametrize("place", [-1, 2])
def test_it_sums_to_the_logit(options, against, place):
    model = gpt(**options)
    for dtype, most in ((torch.float32, 1e-4), (torch.float64, 1e-10)):
        model = model.to(dtype)
        ledger = logit_ledger(model, IDS, 5, against, place)
        logits = model(torch.tensor([IDS]))[0][0, place]
        logit = logits[5] - (logits[against] if against else 0)
        assert ledger.logit == pytest.approx(logit.item(), abs=1e-5 if most > 1e-9 else 1e-12)
        assert abs(ledger.total - ledger.logit) <= most


def test_it_has_a_line_for_every_part():
    def kinds(**options):
        return [entry.kind for entry in logit_ledger(gpt(**options), IDS, 5).entries]

    layer = ["head", "head", "attention_bias", "mlp", "mlp_bias"]
    assert kinds() == ["token", "position", *layer * 3, "norm_shift"]
    bare = kinds(bias=False, norm_kind="rms", positions="rotary")
    assert bare == ["token", *["head", "head", "mlp"] * 3]
    assert "mlp_bias" not in kinds(n_expert=2)
    assert logit_ledger(gpt(), IDS, 5).norm.kind == "layer"
    assert logit_ledger(gpt(norm="none"), IDS, 5).norm == ("none", 1.0)


def test_without_a_norm_an_entry_is_what_is_missing_without_the_part():
    """In one layer without a norm nothing else depends on a head of it but the feed-forward."""
    torch.manual_seed(0)
    shape = dict(vocab_size=19, context_length=10, n_layer=1, n_head=2, n_embd=16, norm="none")
    model = GPT(GPTConfig(**shape)).eval().double()
    with torch.no_grad():
        model.blocks[0].mlp.output.weight.zero_()
        whole = model(torch.tensor([IDS]))[0][0, -1, 5]
        (entry,) = (e for e in logit_ledger(model, IDS, 5).entries if e.kind == "head" and e.head)
        with heads_off({(0, 1)}):
            less = model(torch.tensor([IDS]))[0][0, -1, 5]
    assert (whole - less).item() == pytest.approx(entry.value, abs=1e-12)


def test_a_difference_is_the_difference_of_two_ledgers():
    model = gpt().double()
    first, second = logit_ledger(model, IDS, 5), logit_ledger(model, IDS, 8)
    both = logit_ledger(model, IDS, 5, 8)
    for a, b, c in zip(first.entries, second.entries, both.entries, strict=True):
        assert c[:3] == a[:3] and c.value == pytest.approx(a.value - b.value, abs=1e-12)


@pytest.mark.parametrize("options", NO_SUM.values(), ids=NO_SUM.keys())
def test_a_stream_that_is_no_sum_is_refused(options):
    with pytest.raises(ValueError, match="needs a residual stream that is only added to"):
        logit_ledger(gpt(**options), IDS, 5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(token=19), "token must be from 0 to 18; got 19"),
        (dict(token=1, against=-1), "token must be from 0 to 18; got -1"),
        (dict(token=1, place=6), "place must be from -6 to 5; got 6"),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(ValueError, match=message):
        logit_ledger(gpt(), IDS, **given)
