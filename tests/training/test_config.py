"""Settings check themselves, and say the rule and the value."""

import pytest

from llmviz.training import TrainConfig


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
