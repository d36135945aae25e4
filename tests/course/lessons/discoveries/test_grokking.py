"""Sums modulo a prime: the task, the Fourier numbers against sums written out, the bundled ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.discoveries.grokking import grokking_record as record
from llmviz.course.lessons.discoveries.grokking.model import (
    BEYOND,
    LEARNED,
    Sums,
    all_logits,
    answer_logits,
    explained,
    heights,
    inputs_of,
    learn,
    model_of,
    moment_of,
    plane,
    power,
)

PRIMES = st.sampled_from([5, 7, 11, 13])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"modulus": 9}, "must be a prime"),
        ({"modulus": 2}, "from 3"),
        ({"modulus": 127}, "to 113"),
        ({"share": 0.0}, "some sums must be shown"),
        ({"share": 1.0}, "some sums must be shown"),
        ({"share": float("nan")}, "some sums must be shown"),
        ({"modulus": 3, "share": 0.01}, "some sums must be shown"),
        ({"modulus": 3, "share": 0.88}, "new in both orders"),
        ({"decay": -0.1}, "weight decay must be at least 0"),
        ({"decay": float("nan")}, "weight decay must be at least 0"),
    ],
)
def test_a_task_that_cannot_be_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Sums(**wrong)


@given(PRIMES, st.floats(0.2, 0.5), st.integers(0, 9))
def test_each_sum_is_shown_or_shown_in_the_other_order_or_new(modulus, share, seed):
    task = Sums(modulus, share, seed=seed)
    shown = {tuple(pair) for pair in task.pairs[task.shown].tolist()}
    assert len(shown) == round(share * modulus**2)
    for place, (a, b) in enumerate(task.pairs.tolist()):
        kinds = (bool(task.shown[place]), bool(task.turned[place]), bool(task.new[place]))
        other = (b, a) in shown
        assert kinds == ((a, b) in shown, (a, b) not in shown and other, sum(kinds[:2]) == 0)
        assert (a + b - task.answers[place]) % modulus == 0
        assert 0 <= task.answers[place] < modulus
    assert inputs_of(task).tolist() == [[*pair, modulus] for pair in task.pairs.tolist()]


@given(PRIMES, st.integers(0, 99))
def test_shares_of_frequencies_are_those_of_sums_written_out(modulus, seed):
    table = np.random.default_rng(seed).normal(size=(modulus, 4))
    written = []
    for k in range(1, modulus // 2 + 1):
        turns = 2 * np.pi * k * np.arange(modulus) / modulus
        written.append(((np.cos(turns) @ table) ** 2 + (np.sin(turns) @ table) ** 2).sum())
    spread = ((table - table.mean(0)) ** 2).sum()
    assert power(table) == pytest.approx(np.array(written) * 2 / modulus / spread)


@given(PRIMES, st.data())
def test_a_circle_is_found_again_and_holds_all(modulus, data):
    k = data.draw(st.integers(1, modulus // 2))
    directions = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 2)))[0].T
    turns = 2 * np.pi * k * np.arange(modulus) / modulus
    table = np.stack([np.cos(turns), np.sin(turns)], -1) @ directions + 5
    assert power(table)[k - 1] == pytest.approx(1)
    found = plane(table - 5, k)
    assert found @ found.T == pytest.approx(np.eye(2), abs=1e-9)
    assert (table - 5) @ found.T == pytest.approx(
        np.stack([np.cos(turns), np.sin(turns)], -1), abs=1e-9
    )


@given(PRIMES, st.integers(0, 99))
def test_waves_in_logits_are_measured_and_explain_them(modulus, seed):
    rng = np.random.default_rng(seed)
    frequencies = np.arange(1, modulus // 2 + 1)
    high = rng.normal(size=len(frequencies))
    a, b, c = np.ogrid[:modulus, :modulus, :modulus]
    turns = 2 * np.pi * (a + b - c)[..., None] * frequencies / modulus
    logits = (np.cos(turns) @ high + 3 * a).reshape(modulus**2, modulus)
    assert heights(logits, modulus) == pytest.approx(high, abs=1e-9)
    assert explained(logits, frequencies, high) == pytest.approx(1)
    assert explained(logits, frequencies, 0 * high) == pytest.approx(0)
    assert explained(logits, frequencies, -high) < 0


def test_the_model_is_one_layer_written_out():
    task = Sums(7, 0.4, width=8)
    model = model_of(task)
    parts = dict(model.state_dict())
    x = parts["token.weight"][inputs_of(task)] + parts["position.weight"]
    q, k, v = (x @ parts["blocks.0.attn.qkv.weight"].T).split(8, -1)
    heads = []
    for h in range(4):
        own = slice(2 * h, 2 * h + 2)
        scores = (q[:, -1:, own] @ k[..., own].transpose(1, 2)) / 2**0.5
        heads.append((scores.softmax(-1) @ v[..., own])[:, 0])
    x = x[:, -1] + torch.cat(heads, -1) @ parts["blocks.0.attn.projection.weight"].T
    hidden = (x @ parts["blocks.0.mlp.hidden.weight"].T).clamp(min=0)
    logits = (x + hidden @ parts["blocks.0.mlp.output.weight"].T) @ parts["head.weight"].T
    assert sum(one.numel() for one in parts.values()) == 8 * (8 + 3 + 4 * 8 + 2 * 32 + 8)
    assert all_logits(task, model) == pytest.approx(logits.numpy(), abs=1e-5)


def test_a_training_learns_by_heart_first_and_the_same_again():
    task = Sums(11, 0.6, width=16, most=120)
    moments = list(learn(task))
    assert [one.step for one in moments][:3] == [1, 2, 3]
    assert moments[-1].step == 120
    assert moments[-1].shown_right == 1 > moments[0].shown_right
    assert moments[-1].shown_loss < moments[0].shown_loss / 10
    assert all(one.rows is None for one in moments)
    again = list(learn(task))
    assert np.array_equal(again[-1].power, moments[-1].power)


def test_a_moment_counts_each_kind_of_sum():
    task = Sums(5, 0.4, width=8, seed=3)
    model = model_of(task)
    moment = moment_of(task, model, 9)
    with torch.no_grad():
        logits = answer_logits(model, inputs_of(task)).double()
    for name, which in (("shown", task.shown), ("turned", task.turned), ("new", task.new)):
        right = [int(logits[at].argmax()) == task.answers[at] for at in np.flatnonzero(which)]
        assert getattr(moment, f"{name}_right") == pytest.approx(np.mean(right))
    for name, which in (("shown", task.shown), ("new", task.new)):
        loss = torch.nn.functional.cross_entropy(
            logits[torch.from_numpy(which)], torch.from_numpy(task.answers[which])
        )
        assert getattr(moment, f"{name}_loss") == pytest.approx(loss.item())
    assert moment.rows.shape == (5, 8)


def test_the_bundled_model_adds_and_its_film_ends_with_its_rows():
    film = record.film()
    logits = record.final_logits()
    right = logits.argmax(-1) == record.MAIN.answers
    assert right[record.MAIN.new].mean() == pytest.approx(film.last.new_right)
    assert film.last.new_right > LEARNED
    spectrum = power(film.last.rows)
    assert spectrum == pytest.approx(film.last.power, abs=1e-4)
    frequencies = np.array(film.strongest(4))
    high = heights(logits, record.MAIN.modulus)
    assert set(np.argsort(-np.abs(high))[:4] + 1) == set(frequencies)
    assert explained(logits, frequencies, high[frequencies - 1]) > 0.8


@pytest.mark.parametrize("task", record.tasks(), ids=record.name_of)
def test_each_bundled_training_is_whole(task):
    film, card = record.film(task), record.card(task)
    assert film.moments[0].step == 1
    assert film.last.step == card["steps"]
    assert (np.diff(film.steps) > 0).all()
    assert [one.power.sum() for one in film.moments] == pytest.approx([1] * len(film.moments))
    new = film.step_of("new_right")
    end = task.most if new is None else min(task.most, round((1 + BEYOND) * new))
    assert film.last.step == end
    assert card["parameters"] == sum(one.numel() for one in model_of(task).parameters())


def test_the_main_training_knows_the_new_sums_much_later_and_its_waves_grow_before():
    film = record.film()
    heart, new = film.first("shown_right"), film.first("new_right")
    assert film.moments[heart].new_right < 0.05
    assert film.moments[new].step > 5 * film.moments[heart].step
    assert film.held(4)[-1] > 2 * film.held(5)[0]


def test_without_weight_decay_shown_sums_are_learned_and_new_ones_stay_wrong():
    for setting in product(record.MODULI, record.SHARES, record.DECAYS, record.SEEDS):
        film = record.film(record.small(*setting))
        assert film.last.shown_right > LEARNED
        if setting[2] == 0:
            assert film.curve("new_right").max() < 0.5
    strong = [record.film(record.small(23, 0.6, 1.0, seed)) for seed in record.SEEDS]
    assert sum(one.step_of("new_right") is not None for one in strong) >= 2
