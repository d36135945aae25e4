"""The bundled record of what a training of every weight changes, cut to a few patterns."""

import numpy as np
import pytest

from experiments import whole_change as maker
from llmviz.course.lessons.finetuning.lora.whole_change import HELD, KEPT, RANKS, recorded
from llmviz.finetuning.recipes import TUNINGS
from llmviz.finetuning.tuned_models import tuned_card
from llmviz.pretrained import load_bundled


def test_the_record_is_whole_and_its_patterns_hold_what_a_cut_keeps():
    base, _, _ = load_bundled("tiny-world-gpt")
    told, chance = recorded(), np.random.default_rng(0)
    assert tuple(told.right) == RANKS and TUNINGS["instructions"].plan.rank == HELD
    shapes = {path: each.shape for path, each in maker.changes(base, base).items()}
    assert told.values.keys() == shapes.keys() == told.held.keys() and len(shapes) == 16
    for path, values in told.values.items():
        assert len(values) == KEPT and (np.diff(values) <= 0).all()
        total = np.square(values[:HELD]).sum() / told.held[path]
        assert np.square(values).sum() <= total * 1.001
    added = {path: chance.normal(size=shape) for path, shape in list(shapes.items())[:1]}
    (path,) = added
    cut = maker.changes(base, maker.cut_to(base, added, 2))
    assert np.linalg.matrix_rank(cut[path], tol=1e-2) == 2
    whole = maker.changes(base, maker.cut_to(base, added, None))
    np.testing.assert_allclose(whole[path], added[path], atol=1e-5)


def test_few_patterns_give_nearly_all_answers_and_as_many_as_an_adapter_of_as_many():
    told, lora = recorded(), tuned_card("instructions")["right"]
    assert list(told.right.values()) == sorted(told.right.values())
    assert told.all - told.right[HELD] < 0.1 and told.right[1] < 0.5
    assert lora == pytest.approx(told.all, abs=0.06)
