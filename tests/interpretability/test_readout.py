"""The way of a vector to its logits: what the lens and the ledger have, number by number."""

import pytest
import torch
from torch.nn import functional as F

from llmviz.interpretability.attribution import logit_ledger, split_stream
from llmviz.interpretability.lens import logit_lens
from llmviz.interpretability.readout import read_out, read_part
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt

ALL = OPTIONS | NO_SUM


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


def test_bad_input_is_named():
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
