"""The chapter "Norms and shortcuts": the lines are the stacks, the cells the norms."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.lessons.transformer.depth import depth_study
from llmviz.course.lessons.transformer.residuals import chapter as residuals
from llmviz.course.lessons.transformer.residuals.model import stream_shares
from llmviz.trace import record
from tests.pages.conftest import use
from tests.pages.harness import boxes, charts, fine, open_part, prose_of, sent
from tests.pages.small_model import LAYERS, ids_of, make_checkpoint

TEXT = "Once Anna met Samir. Then"


@pytest.mark.parametrize("norm", ["none", "pre", "post", "rms"])
@pytest.mark.parametrize(("layers", "short"), [("1", "1"), ("48", "0")])
def test_the_lines_are_the_stacks(bundle, norm, layers, short):
    link = {"deep": layers, "deepnorm": norm, "shortcut": short}
    app = open_part("transformer", "residuals", **link)
    fine(app)
    place, kind = ("pre", "rms") if norm == "rms" else (norm, "layer")
    found = [
        depth_study(int(layers), place, shortcuts=shortcuts, norm_kind=kind)
        for shortcuts in (True, False)
    ]
    lines = sent(app, "draw_on")["lines"]
    here = found[short == "0"].activations.tolist()
    assert lines[0]["y"] == pytest.approx(here)
    assert lines[-1]["y"] == pytest.approx(depth_study(int(layers), "none").activations.tolist())
    assert f"is <strong>{residuals.size(here[-1])}</strong> after" in prose_of(app)
    for line, study in zip(charts(app)[0]["data"], found, strict=True):
        wanted = study.gradients.numpy()
        np.testing.assert_allclose(line["y"], wanted[(wanted > 0) & np.isfinite(wanted)])


def test_the_line_without_norms_is_drawn_by_hand_and_ends_at_its_last_known_point(bundle, covers):
    bare = depth_study(residuals.GUESSED, "none").activations.tolist()
    before = sent(open_part("transformer", "residuals"), "draw_on")
    assert before["asked"]["x"] == list(range(residuals.KNOWN, residuals.GUESSED + 1))
    assert before["lines"][-1]["y"] == pytest.approx(bare[: residuals.KNOWN])
    told = sent(open_part("transformer", "residuals", deepnorm="none"), "draw_on")
    assert not told["asked"]["x"] and told["lines"][-1]["y"] == pytest.approx(bare)


def test_somebody_with_a_ruler_and_somebody_to_whom_all_cancels_are_far_from_the_line():
    bare = depth_study(residuals.GUESSED, "none").activations.tolist()
    asked = residuals.question(bare)
    truth, adds, cancels = (np.array(line) for line in asked.values)
    assert asked.right == 0 and truth.tolist() == bare[residuals.KNOWN :]
    np.testing.assert_allclose(np.diff(adds), bare[4] - bare[3])
    assert (cancels == bare[4]).all()
    for one, other in ((truth, adds), (truth, cancels), (adds, cancels)):
        assert abs(np.log10(one / other)).mean() > 0.5


@pytest.mark.parametrize("stacknorm", ["pre", "post", "rms"])
def test_links_to_norms_open_what_holds_them_now(bundle, stacknorm):
    app = open_part("transformer", "norms", stack="6", stacknorm=stacknorm, which="norm2")
    fine(app)
    assert not boxes(app) and app.query_params["part"] == "residuals"
    state = app.session_state
    assert state["transformer.deep"] == 6 and state["transformer.which"] == "norm2"
    assert state["transformer.deepnorm"] == stacknorm


@pytest.mark.parametrize("which", ["norm1", "norm2"])
def test_norms_bring_each_row_to_one_size(which):
    picture = residuals.norm_picture(which)
    cells = {matrix.name: torch.tensor(matrix.values) for matrix in picture.matrices}
    x = cells["x"]
    wanted = torch.nn.functional.layer_norm(x, x.shape[1:])
    torch.testing.assert_close(cells["normalized"], wanted, atol=1e-5, rtol=1e-4)
    wanted = torch.nn.functional.rms_norm(x, x.shape[1:], eps=residuals.EPSILON)
    torch.testing.assert_close(cells["divided"], wanted, atol=1e-5, rtol=1e-4)
    assert {name for row in picture.layout for name in row if name} == cells.keys()


def test_the_shares_of_the_stream_add_up_to_one(bundle):
    app = open_part("transformer", "residuals", text=TEXT)
    fine(app)
    shares, length = (chart["data"] for chart in charts(app)[1:3])
    np.testing.assert_allclose(np.sum([bars["y"] for bars in shares], axis=0), 1, atol=1e-4)
    with torch.inference_mode(), record(f"blocks.{LAYERS - 1}.residual") as trace:
        bundle.model(torch.tensor([ids_of(bundle, TEXT)]))
    last = trace[f"blocks.{LAYERS - 1}.residual"][0].norm(dim=-1)
    assert length[0]["y"][-1] == pytest.approx(float(last.mean()), rel=1e-4)
    assert f"to {float(last[-1]):.1f}." in prose_of(app)
    part = float(stream_shares(bundle.model, ids_of(bundle, TEXT)).shares[0, -1].mean())
    assert f"is {residuals.share_of(part)} of the whole" in prose_of(app)


@given(some.floats(-2, 2))
def test_a_share_against_the_whole_has_a_true_minus(share):
    written = residuals.share_of(share)
    assert "-" not in written and written.startswith("−") == (share < 0)


def test_a_stream_that_is_no_sum_is_refused_below_the_stacks(tmp_path, monkeypatch):
    make_checkpoint(tmp_path, norm="post")
    use(monkeypatch, tmp_path)
    app = open_part("transformer", "residuals", text=TEXT)
    fine(app)
    assert len(charts(app)) == 1 and "only added to" in boxes(app)
    assert "After 24 layers without norms" in prose_of(app)
    assert "In the trained model" not in prose_of(app)


@pytest.mark.parametrize("norm", ["none", "pre"])
def test_where_the_seed_decides_it_is_said(bundle, norm):
    told = prose_of(open_part("transformer", "residuals", deepnorm=norm, deepseed="2"))
    assert ("Without shortcuts much depends" in told) == (norm != "none")
    assert ("Too much is no better" in told) == (norm == "none")
