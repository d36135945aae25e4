"""Settings check themselves; the learning rate rises in a line, falls as asked, and ends there."""

import dataclasses
import itertools
import math

import pytest

from llmviz.training import TrainConfig, learning_rate_at
from llmviz.training.schedule import warmup_note


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", 0),
        ("steps", 2.5),
        ("batch_size", -1),
        ("learning_rate", 0),
        ("learning_rate", float("nan")),
        ("learning_rate", float("inf")),
        ("min_lr", 1.0),
        ("weight_decay", -0.1),
        ("beta2", 1.0),
        ("beta1", "0.9"),
        ("shard", "no"),
        ("grad_clip", -1.0),
        ("label_smoothing", 1.0),
        ("label_smoothing", -0.1),
        ("accumulate", 33),
        ("eval_every", -1),
        ("log_every", 0),
        ("schedule", "square"),
        ("optimizer", "magic"),
        ("device", "abacus"),
        ("dtype", "float8"),
        ("seed", -1),
        ("seed", 2**31),
    ],
)
def test_refused_by_name_and_value(field, value):
    with pytest.raises(ValueError, match=field) as error:
        TrainConfig(**{field: value})
    assert "\n" not in str(error.value)


def test_survives_json_and_refuses_unknown_fields():
    config = TrainConfig(steps=7, seed=3)
    assert TrainConfig.from_dict(config.to_dict()) == config
    with pytest.raises(ValueError, match="no field 'colour'"):
        TrainConfig.from_dict({"colour": 1})


RATE, LOW = 0.01, 0.001


@pytest.mark.parametrize("schedule", ["cosine", "linear", "constant"])
@pytest.mark.parametrize("warm", [0, 1, 10])
def test_shape(schedule, warm):
    config = TrainConfig(
        steps=100, warmup_steps=warm, schedule=schedule, learning_rate=RATE, min_lr=LOW
    )
    rates = [learning_rate_at(step, config) for step in range(1, 101)]
    assert max(rates) <= RATE * (1 + 1e-12)
    assert all(math.isclose(rates[i], RATE * (i + 1) / warm) for i in range(warm))
    after = rates[warm:]
    assert all(a >= b for a, b in itertools.pairwise(after))
    assert math.isclose(rates[-1], RATE if schedule == "constant" else LOW)


def test_cosine_is_halfway_in_the_middle():
    config = TrainConfig(steps=110, warmup_steps=10, learning_rate=RATE, min_lr=LOW)
    assert math.isclose(learning_rate_at(60, config), (RATE + LOW) / 2)


def test_one_step_and_warm_up_longer_than_the_run():
    assert learning_rate_at(1, TrainConfig(steps=1, warmup_steps=0)) > 0
    config = TrainConfig(steps=5, warmup_steps=50)
    assert learning_rate_at(5, config) == pytest.approx(config.learning_rate / 10)


@pytest.mark.parametrize(("steps", "warm"), [(100, 0), (100, 100), (100, 101), (7, 5000)])
def test_a_warm_up_that_is_longer_than_the_run_is_said(steps, warm):
    config = TrainConfig(steps=steps, warmup_steps=warm, learning_rate=RATE, min_lr=LOW)
    highest = max(learning_rate_at(step, config) for step in range(1, steps + 1))
    note = warmup_note(config)
    assert bool(note) == (not math.isclose(highest, RATE, rel_tol=1e-3))
    assert not note or f"{highest:.3g}" in note


@pytest.mark.parametrize("schedule", ["cosine", "linear", "constant"])
def test_a_schedule_that_starts_later_is_the_same_one_later(schedule):
    shape = {"warmup_steps": 10, "schedule": schedule, "learning_rate": RATE, "min_lr": LOW}
    first, later = (
        TrainConfig(steps=100, **shape),
        TrainConfig(steps=170, schedule_start=70, **shape),
    )
    for step in range(1, 101):
        assert learning_rate_at(70 + step, later) == learning_rate_at(step, first)
    assert learning_rate_at(70, later) == 0
    assert warmup_note(later) == warmup_note(first) == ""
    short = dataclasses.replace(later, steps=75)
    assert "longer than the run (5)" in warmup_note(short)


@pytest.mark.parametrize("start", [100, 101, -1])
def test_a_schedule_that_would_start_at_the_end_is_refused(start):
    with pytest.raises(ValueError, match="schedule_start"):
        TrainConfig(steps=100, schedule_start=start)
