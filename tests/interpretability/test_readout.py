"""The lens ends in the model, the ledger sums to the logit, and the readout is both."""

import pytest
import torch
from torch.nn import functional as F

from llmviz.interpretability.attribution import logit_ledger, split_stream
from llmviz.interpretability.lens import logit_lens
from llmviz.interpretability.readout import read_out, read_part
from llmviz.models import GPT, GPTConfig, build
from llmviz.nn.attention import heads_off
from llmviz.nn.fast_linear import MANY_ROWS
from llmviz.trace import record
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt

ALL = OPTIONS | NO_SUM


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("against", [None, 11])
@pytest.mark.parametrize("place", [-1, 2])
def test_the_ledger_sums_to_the_logit(options, against, place):
    model = gpt(**options)
    for dtype, most in ((torch.float32, 1e-4), (torch.float64, 1e-10)):
        model = model.to(dtype)
        ledger = logit_ledger(model, IDS, 5, against, place)
        logits = model(torch.tensor([IDS]))[0][0, place]
        logit = logits[5] - (logits[against] if against else 0)
        assert ledger.logit == pytest.approx(logit.item(), abs=1e-5 if most > 1e-9 else 1e-12)
        assert abs(ledger.total - ledger.logit) <= most


def test_the_ledger_has_a_line_for_every_part():
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
def test_tokens_and_places_that_are_not_there_have_no_ledger(given, message):
    with pytest.raises(ValueError, match=message):
        logit_ledger(gpt(), IDS, **given)


@pytest.mark.parametrize("options", ALL.values(), ids=ALL.keys())
def test_the_last_point_of_the_lens_is_the_model(options):
    model = gpt(**options)
    lens = logit_lens(model, IDS, listed=19)
    with torch.inference_mode():
        p = model(torch.tensor([IDS]))[0][0].softmax(-1)
    assert lens.probabilities.shape == (4, 6, 19)
    torch.testing.assert_close(lens.probabilities[-1], p.sort(-1, descending=True).values)
    torch.testing.assert_close(p.gather(1, lens.tokens[-1]), lens.probabilities[-1])
    assert lens.agrees[-1].all()
    torch.testing.assert_close(lens.of_last[-1], p.amax(-1))
    torch.testing.assert_close(lens.entropy[-1], -(p * p.log()).sum(-1))


def test_each_point_of_the_lens_is_the_model_that_stops_there():
    model = gpt()
    lens = logit_lens(model, IDS, listed=3)
    for layer in range(3):
        shorter = gpt()
        shorter.load_state_dict(model.state_dict())
        shorter.blocks = shorter.blocks[: layer + 1]
        with torch.inference_mode():
            p = shorter(torch.tensor([IDS]))[0][0].softmax(-1)
        torch.testing.assert_close(lens.probabilities[layer + 1], p.topk(3).values)
        best = lens.tokens[-1, :, 0]
        torch.testing.assert_close(lens.of_last[layer + 1], p.gather(1, best[:, None])[:, 0])
        assert torch.equal(lens.agrees[layer + 1], p.argmax(-1) == best)
    with torch.inference_mode(), record("embed") as trace:
        model(torch.tensor([IDS]))
        p = model.head(model.norm_final(trace["embed"][0])).softmax(-1)
    torch.testing.assert_close(lens.probabilities[0], p.topk(3).values)


def test_a_long_text_is_read_as_each_of_its_vectors_alone():
    """Many vectors and a large head: it is packed, and they come in parts."""
    model = gpt(vocab_size=700, n_embd=48, context_length=100)
    ids = torch.randint(0, 700, (100,), generator=torch.Generator().manual_seed(0)).tolist()
    names = ["embed", *(f"blocks.{layer}.residual" for layer in range(model.config.n_layer))]
    lens = logit_lens(model, ids, listed=700)
    assert len(names) * len(ids) >= MANY_ROWS
    with torch.inference_mode(), record(names) as trace:
        model(torch.tensor([ids]))
        for point, name in enumerate(names):
            for at in (0, 57, 99):
                p = model.head(model.norm_final(trace[name][0, at])).softmax(-1)
                found = torch.zeros(700).scatter(
                    0, lens.tokens[point, at], lens.probabilities[point, at]
                )
                torch.testing.assert_close(found, p)
                torch.testing.assert_close(lens.entropy[point, at], -(p * p.log()).sum())
                best = lens.tokens[-1, at, 0]
                torch.testing.assert_close(lens.of_last[point, at], p[best])
                assert bool(lens.agrees[point, at]) == (p.argmax() == best)


def test_models_without_layers_are_refused():
    with pytest.raises(ValueError, match=r"a transformer \(gpt, bert\); got a LSTM"):
        logit_lens(build("lstm", {"vocab_size": 9, "context_length": 4}), [1, 2])
    with pytest.raises(ValueError, match="token ids must be from 0 to 18"):
        logit_lens(gpt(), [19])


@pytest.mark.parametrize("options", ALL.values(), ids=ALL.keys())
def test_a_cell_is_the_lens_and_its_last_row_the_model(options):
    model = gpt(**options)
    lens = logit_lens(model, IDS, 4)
    logits = model(torch.tensor([IDS]))[0][0]
    for point in (0, 2, 3):
        for place in (0, 4):
            tokens = lens.tokens[point, place].tolist()
            found = read_out(model, lens.stream[point, place], tokens)
            torch.testing.assert_close(found.p[0], lens.probabilities[point, place])
            torch.testing.assert_close(found.normed @ found.rows.T, found.logits)
            torch.testing.assert_close(found.log_p, found.logits - found.log_sum)
            if point == 3:
                torch.testing.assert_close(found.logits[0], logits[place, tokens])
                assert found.log_sum.item() == pytest.approx(logits[place].logsumexp(-1).item())


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_the_norm_is_torchs_own(kind):
    model = gpt(norm_kind=kind)
    found = read_out(model, logit_lens(model, IDS).stream[1, 2], [5])
    norm, x = found.norm, found.x
    if kind == "rms":
        expected = F.rms_norm(x, (16,), norm.scale[0], norm.epsilon)
        own = x / norm.divisor * norm.scale
    else:
        expected = F.layer_norm(x, (16,), norm.scale[0], norm.shift[0], norm.epsilon)
        own = (x - norm.mean) / norm.divisor * norm.scale + norm.shift
    torch.testing.assert_close(own, expected)
    torch.testing.assert_close(found.normed, expected)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("against", [None, 11])
def test_every_share_is_the_ledgers(options, against):
    model = gpt(**options)
    split = split_stream(model, IDS, 2)
    for entry in logit_ledger(model, IDS, 5, against, 2).entries:
        found = read_part(model, split, [entry[:3]], 5, against)
        reading = found.row - (0 if found.against is None else found.against)
        assert found.share.item() == pytest.approx(entry.value, abs=1e-4)
        assert (found.normed @ reading.T).item() == pytest.approx(entry.value, abs=1e-4)


def test_parts_together_have_the_sum_of_their_shares():
    model = gpt()
    entries = [e for e in logit_ledger(model, IDS, 5).entries if e.layer == 1]
    found = read_part(model, split_stream(model, IDS), [entry[:3] for entry in entries], 5)
    assert found.share.item() == pytest.approx(sum(e.value for e in entries), abs=1e-4)


def test_what_cannot_be_read_out_is_named():
    model = gpt()
    x, split = logit_lens(model, IDS).stream[0, 0], split_stream(model, IDS)
    with pytest.raises(ValueError, match="token must be from 0 to 18; got 19"):
        read_out(model, x, [1, 19])
    with pytest.raises(ValueError, match=r"x must be a vector of 16 numbers; got \(15,\)"):
        read_out(model, x[1:], [1])
    for parts in ([], [("head", 9, 0)], [("token", -1, -1), ("norm_shift", -1, -1)]):
        with pytest.raises(ValueError, match="parts must be entries of the ledger"):
            read_part(model, split, parts, 5)
    with pytest.raises(ValueError, match="token must be from 0 to 18; got -1"):
        read_part(model, split, [("token", -1, -1)], 5, -1)
    with pytest.raises(ValueError, match="place must be from -6 to 5; got 6"):
        split_stream(model, IDS, 6)
