"""What the stream is made of, and what depth does to numbers and gradients."""

import pytest
import torch

from llmviz.course.lessons.transformer.depth import depth_study
from llmviz.course.lessons.transformer.residuals.model import stream_shares
from llmviz.trace import record
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, gpt


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_shares_sum_to_one_and_parts_are_the_taps(options):
    model = gpt(**options)
    found = stream_shares(model, IDS)
    torch.testing.assert_close(found.shares.sum(0), torch.ones(4, 6), atol=1e-4, rtol=1e-4)
    with torch.inference_mode(), record() as trace:
        model(torch.tensor([IDS]))
    whole, attention, mlp = trace["embed"][0], 0, 0
    torch.testing.assert_close(found.norms[0], whole.norm(dim=-1))
    assert torch.equal(found.shares[:, 0], torch.tensor([1.0, 0, 0])[:, None].expand(3, 6))
    for layer in range(3):
        attention = attention + trace[f"blocks.{layer}.attn"][0]
        mlp = mlp + trace[f"blocks.{layer}.mlp"][0]
        whole = trace[f"blocks.{layer}.residual"][0]
        torch.testing.assert_close(found.norms[layer + 1], whole.norm(dim=-1))
        for number, part in ((1, attention), (2, mlp)):
            share = (part * whole).sum(-1) / (whole * whole).sum(-1)
            torch.testing.assert_close(found.shares[number, layer + 1], share, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("options", NO_SUM.values(), ids=NO_SUM.keys())
def test_a_stream_that_is_no_sum_has_no_shares(options):
    with pytest.raises(ValueError, match="only added to"):
        stream_shares(gpt(**options), IDS)


@pytest.mark.parametrize(
    "options", [dict(), dict(norm="post"), dict(norm="none", shortcuts=False)], ids=str
)
def test_the_gradient_at_the_end_is_that_of_a_mean_product(options):
    """T·C random numbers r of mean square 1: the gradient of mean(x·r) is r / TC, 1/√(TC) long."""
    found = depth_study(3, **options)
    assert found.activations.shape == found.gradients.shape == (4,)
    assert found.gradients[-1].item() == pytest.approx((16 * 32) ** -0.5, rel=0.1)


def test_the_first_point_does_not_depend_on_depth_and_runs_repeat():
    one, two = depth_study(2), depth_study(2)
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    assert depth_study(5).activations[0] == one.activations[0] == pytest.approx(1, abs=0.1)
    assert not torch.equal(one.gradients, depth_study(2, seed=1).gradients)


def test_what_norms_and_shortcuts_are_good_for():
    bare, normed = depth_study(24, norm="none"), depth_study(24)
    assert bare.activations[-1] > 100 * normed.activations[-1]
    assert depth_study(24, norm="post").activations[1:].sub(1).abs().max() < 0.01
    without = depth_study(24, norm="none", shortcuts=False)
    assert without.gradients[0] < 1e-3 * without.gradients[-1]
    assert normed.gradients[0] > 0.1 * normed.gradients[-1]


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("shortcuts", [True, False])
def test_the_deepest_stack_gives_numbers(norm, shortcuts):
    for part in depth_study(48, norm=norm, shortcuts=shortcuts):
        assert part.isfinite().all() and (part > 0).all()


@pytest.mark.parametrize("n_layer", [0, 49])
def test_the_depth_has_a_limit(n_layer):
    with pytest.raises(ValueError, match=f"n_layer must be from 1 to 48; got {n_layer}"):
        depth_study(n_layer)
