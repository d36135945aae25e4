"""Settings check themselves and say the rule and the value."""

import dataclasses
import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
import torch

import llmviz
from llmviz.config import Config, default_of, settings_of
from llmviz.models import MODELS, GPTConfig, MLPConfig, Seq2SeqConfig, WaveNetConfig
from llmviz.models.catalogue import GPT_SIZES
from llmviz.models.translator_settings import TranslatorConfig
from llmviz.training.errors import CheckpointError
from llmviz.training.fitting import build_to_fit
from llmviz.training.tensors import save_tensors


@pytest.mark.parametrize("name", MODELS)
def test_settings_survive_a_round_trip(name):
    make = MODELS[name].config
    config = make(vocab_size=31)
    assert make.from_dict(config.to_dict()) == config
    with pytest.raises(FrozenInstanceError):
        config.vocab_size = 3


@pytest.mark.parametrize("name", GPT_SIZES)
def test_presets_are_valid(name):
    GPTConfig.from_dict(GPT_SIZES[name])


@pytest.mark.parametrize(
    ("make", "values", "message"),
    [
        (
            GPTConfig,
            dict(n_embd=30, n_head=4),
            "n_head must divide n_embd; got n_embd=30, n_head=4",
        ),
        (GPTConfig, dict(vocab_size=0), "vocab_size must be a whole number of at least 1; got 0"),
        (GPTConfig, dict(n_layer=-1), "n_layer must be a whole number of at least 1; got -1"),
        (GPTConfig, dict(n_layer=1.5), "n_layer must be a whole number"),
        (GPTConfig, dict(n_layer=True), "n_layer must be a whole number"),
        (GPTConfig, dict(dropout=1.0), "dropout must be at least 0 and below 1; got 1.0"),
        (GPTConfig, dict(dropout=float("nan")), "dropout must be at least 0 and below 1; got nan"),
        (GPTConfig, dict(norm_epsilon=-1.0), "norm_epsilon must be at least 0"),
        (GPTConfig, dict(shift="no"), "shift must be true or false; got 'no'"),
        (GPTConfig, dict(tied_head=1), "tied_head must be true or false; got 1"),
        (MLPConfig, dict(batch_norm="off"), "batch_norm must be true or false; got 'off'"),
        (WaveNetConfig, dict(batch_norm=0), "batch_norm must be true or false; got 0"),
        (Seq2SeqConfig, dict(attention_bias="x"), "attention_bias must be true or false"),
        (Seq2SeqConfig, dict(pad_id="x"), "pad_id must be from 0 to 255; got 'x'"),
        (GPTConfig, dict(positions="xyz"), "positions must be one of learned, sinusoidal"),
        (GPTConfig, dict(mask="yes"), "mask must be one of causal, off_by_one, none"),
        (GPTConfig, dict(softmax_before_mask="x"), "must be one of None, softmax_again"),
        (GPTConfig, dict(positions="rotary", n_embd=12, n_head=4), "even head size; got 3"),
        (GPTConfig, dict(positions="sinusoidal", n_embd=9, n_head=3), "even n_embd; got 9"),
        (MLPConfig, dict(window=0), "window must be a whole number"),
        (WaveNetConfig, dict(n_layer=40), "n_layer must be at most 12"),
        (Seq2SeqConfig, dict(end_id=300), "end_id must be from 0 to 255; got 300"),
    ],
)
def test_bad_settings_are_named(make, values, message):
    with pytest.raises(ValueError, match=message):
        make(**values)


def test_an_unknown_field_is_named():
    with pytest.raises(ValueError, match="GPTConfig has no field 'layers'"):
        GPTConfig.from_dict({"layers": 3})


def test_every_setting_of_training_says_what_it_means():
    from llmviz.training.config import Plan, TrainConfig

    for config in (TrainConfig, Plan, *(entry.config for entry in MODELS.values())):
        for name, about in settings_of(config).items():
            assert about.meaning and "\n" not in about.help
            default = default_of(config, name)
            if about.choices:
                assert default in about.choices, name
            elif default is not None and about.low is not None:
                assert about.low <= default <= about.high, name
    said = settings_of(TrainConfig)
    assert set(said) == {one.name for one in dataclasses.fields(TrainConfig)}
    assert said["steps"].help == "updates of the weights (steps)"
    # The ranges of a form lie within the rules, at both of their ends.
    for name, about in said.items():
        if about.low is not None and name not in ("min_lr", "accumulate", "schedule_start"):
            for value in (about.low, about.high):
                needed = {"dtype": "float16"} if name == "loss_scale" else {}
                TrainConfig(**{"schedule": "constant", "batch_size": 64, **needed, name: value})


def import_all() -> None:
    """Import whatever has settings, so that each worker tries the same classes."""
    package = Path(llmviz.__file__).parent
    for path in sorted(package.rglob("*.py")):
        if re.search(r"^class \w+\(\w*Config\)", path.read_text("utf-8"), re.MULTILINE):
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            importlib.import_module(name.removesuffix(".__init__"))


def classes_of(config: type[Config]) -> Iterator[type[Config]]:
    for kind in config.__subclasses__():
        yield kind
        yield from classes_of(kind)


def is_whole(kind: type[Config]) -> bool:
    """Whether it is a class of the package that can be made without a value."""
    if not kind.__module__.startswith("llmviz."):
        return False
    if getattr(sys.modules[kind.__module__], kind.__name__, None) is not kind:
        return False  # one that a decorator replaced lives until it is collected
    missing = dataclasses.MISSING
    fields = dataclasses.fields(kind)
    return all(one.default is not missing or one.default_factory is not missing for one in fields)


import_all()
WITH_DEFAULTS = sorted(
    (kind for kind in set(classes_of(Config)) - {TranslatorConfig} if is_whole(kind)),
    key=lambda kind: (kind.__name__, kind.__module__),
)
ODD = ("2", "x", True, None, [], {}, [1], ["2"], float("inf"), float("nan"), -1, 10**30, 0.5)
OF_PYTHON = ("supported between", "object is not", "object has no", "must be real number")


@pytest.mark.parametrize("kind", WITH_DEFAULTS, ids=lambda kind: kind.__name__)
def test_a_setting_of_any_type_is_taken_or_refused_in_words(kind):
    """As a tampered file may hold it: no error of Python's own, also not as a message."""
    plain = kind().to_dict()
    for name in plain:
        for value in ODD:
            try:
                kind.from_dict({**plain, name: value})
            except ValueError as error:
                assert not any(words in str(error) for words in OF_PYTHON), (name, value)


@pytest.mark.parametrize("value", ["2", None, [], True])
def test_a_file_with_odd_settings_is_refused_in_words(tmp_path, value):
    config = {**GPTConfig(vocab_size=7).to_dict(), "n_layer": value}
    save_tensors(tmp_path / "model.safetensors", {"a": torch.zeros(1)})
    description = {"model": {"name": "gpt", "config": config}}
    with pytest.raises(CheckpointError, match="n_layer must be a whole number of at least 1; got"):
        build_to_fit(description, tmp_path / "model.safetensors", "config.json")
