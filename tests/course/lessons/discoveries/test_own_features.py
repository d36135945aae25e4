"""Features that are learned of a model while a page waits."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.lessons.discoveries.features import model as own_features
from llmviz.course.lessons.discoveries.features.model import ABSENT, learn_own
from llmviz.interpretability.stream_reading import losses_with, read_taps, stream_tap
from llmviz.pretrained import load_bundled


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(own_features, "TOKENS", 600)
    monkeypatch.setattr(own_features, "STEPS", 20)


def test_features_of_a_bundled_model_are_learned_and_measured_on_other_pieces(quick):
    steps = list(learn_own("names-gpt", "names", 0, 16, 4, 1))
    done = [one.done for one in steps]
    assert done == sorted(done)
    assert done[-1] == 1
    found = steps[-1].found
    assert all(one.found is None for one in steps[:-1])
    gpt, _, _ = load_bundled("names-gpt")
    (streams,) = read_taps(gpt, found.pieces, [stream_tap(0)])
    values = [found.dictionary.read(one) for one in streams]
    assert found.measured == sum(map(len, streams))
    assert found.share == pytest.approx((np.concatenate(values) > 0).mean(0))
    assert found.loss == pytest.approx(losses_with(gpt, found.pieces).mean())
    for feature in range(16):
        best = int(found.best[feature, 0])
        strip = found.strips[feature, 0]
        kept = strip[strip != ABSENT]
        assert kept == pytest.approx(values[best][:, feature], abs=0.01)
        assert max(one[:, feature].max() for one in values) == pytest.approx(kept.max(), abs=0.01)


@pytest.mark.parametrize(
    ("name", "layer", "message"),
    [("names-rnn", 0, "transformer"), ("names-gpt", 99, "layer must be from 0")],
)
def test_what_has_no_such_layer_is_refused(quick, name, layer, message):
    with pytest.raises(ValueError, match=message):
        list(learn_own(name, "names", layer, 8, 2, 0))


def test_a_text_of_one_piece_is_refused(quick, tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("anna", encoding="utf-8")
    with pytest.raises(ValueError, match="two pieces"):
        list(learn_own("names-gpt", str(path), 0, 8, 2, 0))
