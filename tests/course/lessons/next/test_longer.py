"""Longer texts: the record, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.lessons.next.longer import model
from llmviz.course.lessons.next.longer.longer_record import (
    BIN,
    KEPT,
    KINDS,
    SEEDS,
    TEXTS,
    TIMES,
    TWINS,
    WAYS,
    WINDOWS,
    recorded,
)


def test_the_floor_and_the_losses_come_again():
    from experiments.longer import floor_by_place
    from llmviz.evaluation.longer_texts import long_texts
    from llmviz.tokenizers import get_tokenizer

    found, tokenizer = recorded(), get_tokenizer("word")
    ids = long_texts(tokenizer, TIMES * found.context, TEXTS)
    assert floor_by_place(ids, tokenizer) == pytest.approx(found.floor, abs=6e-5)
    assert len(found.places) == TIMES * found.context // BIN
    for kind in KINDS:
        rows = np.array(found.losses[kind])
        assert rows.shape == (len(SEEDS), len(found.places))
        last = np.array(found.places) > (TIMES - 1) * found.context
        over = rows - np.array(found.floor)
        assert found.far(kind) == pytest.approx(over[:, last].mean(1))
        assert (over > 0).all(), "no model is below the grammar itself"


def test_what_is_said_of_the_ways_holds_in_every_training():
    found = recorded()
    assert (found.far("plain") > found.near("plain")).all()  # it climbs
    assert (found.far("learned") > found.far("plain")).all()  # and a table stumbles
    assert (found.near("linear") > found.near("plain")).all()  # even where it was good
    for way in WAYS:
        assert (found.far(f"{way}-tuned") < found.far(way)).all()  # practice helps


def test_a_twin_that_knows_its_beginning_misses_it_and_the_other_does_not():
    found = recorded()
    for window in WINDOWS:
        for twin in TWINS:
            assert (found.cost(twin, window) > 0).all()  # a window costs something
        apart = found.cost("own", window) - found.cost("own", window, KEPT)
        assert (apart > 0).all()
        free = found.cost("free", window) - found.cost("free", window, KEPT)
        assert abs(free.mean()) < apart.mean() / 3


def test_the_twins_see_a_window_and_are_measured_on_new_texts():
    """One training anew takes a minute; here: what a window of everything costs, and one of one."""
    from llmviz.evaluation.longer_texts import losses_within
    from tests.random_weights import random_gpt

    gpt = random_gpt(0.3, vocab_size=20, context_length=12, positions="rotary")
    ids = torch.randint(0, 20, (3, 13), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        log_p = gpt(ids[:, :-1])[0].log_softmax(-1)
        plain = -log_p.gather(-1, ids[:, 1:, None])[..., 0].numpy()
    for keeps in (False, True):
        assert losses_within(gpt, ids, 12, keeps_first=keeps) == pytest.approx(plain, abs=1e-4)
    changed = ids.clone()
    changed[:, 0] = (ids[:, 0] + 1) % 20
    near, far = (losses_within(gpt, rows, 3, keeps_first=False) for rows in (ids, changed))
    layers = gpt.config.n_layer
    assert near[:, 1 + layers * 2 :] == pytest.approx(far[:, 1 + layers * 2 :], abs=1e-5)
    kept = losses_within(gpt, changed, 3, keeps_first=True)
    assert not np.allclose(kept[:, -1], losses_within(gpt, ids, 3, keeps_first=True)[:, -1])


@given(some.integers(16, 4096), some.sampled_from(WAYS))
def test_how_far_a_pair_turns(context, way):
    trained, now = model.circles("plain", context, 1), model.circles(way, context, TIMES)
    assert ((trained > 0) & (trained <= now + 1e-9) & (now <= 1)).all()
    if way == "linear":  # word n turns as word n / TIMES did
        assert now == pytest.approx(trained)
    if way == "ntk":  # the slowest pair comes just as far as in training, and the quickest stays
        assert now[-1] == pytest.approx(trained[-1])
        assert float(model.frequencies(way, context)[0]) == 1.0
    assert (now <= model.circles("plain", context, TIMES) + 1e-9).all()
