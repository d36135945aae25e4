"""Which arithmetic `auto` is: by machine and sizes, the same each time, and written down."""

import tomllib

import pytest
import torch

from llmviz.models import build
from llmviz.training import device
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.plan import prepare, prepare_again
from llmviz.training.run_folder import read_description, run_in_folder
from tests.training.small_plans import small_training

PLAN = Plan(
    model="gpt",
    model_options={"n_layer": 1, "n_head": 2, "n_embd": 16},
    corpus="names",
    context_length=8,
    train=small_training(steps=4, batch_size=4, warmup_steps=1, dtype="auto"),
)
CPU = torch.device("cpu")


@pytest.mark.parametrize("fast", [True, False])
def test_the_arithmetic_follows_from_machine_and_sizes_whatever_the_clock_says(monkeypatch, fast):
    monkeypatch.setattr(device, "has_fast_bfloat16", lambda where: fast)
    large = build("gpt", {"vocab_size": 512, "context_length": 64, "n_embd": 128, "n_head": 2})
    small = build("gpt", {"vocab_size": 32, "context_length": 8, "n_embd": 16, "n_head": 2})
    for model, rows, length, pays in ((large, 8, 64, True), (small, 4, 8, False)):
        ids = torch.zeros(rows, length, dtype=torch.long)
        for slower in (torch.float32, torch.bfloat16):
            monkeypatch.setattr(
                device,
                "_measure",
                lambda model, batch, choices, seconds, slower=slower: {
                    choice: 9.0 if choice[0] is slower else 1.0 for choice in choices
                },
            )
            found = device.settle(model, (ids, ids), TrainConfig(device="cpu"))
            assert (found.dtype is torch.bfloat16) == (fast and pays)
    ids = torch.zeros(8, 64, dtype=torch.long)
    for name in ("float32", "bfloat16"):
        given = TrainConfig(device="cpu", dtype=name)
        assert device.choose_dtype(small, (ids, ids), given, CPU) is getattr(torch, name)


@pytest.mark.parametrize("most", [0.0, float("inf")])
def test_a_run_says_which_arithmetic_it_took(tmp_path, monkeypatch, most):
    monkeypatch.setattr(device, "has_fast_bfloat16", lambda where: True)
    monkeypatch.setattr(device, "BFLOAT16_FROM", most)
    name = "float32" if most else "bfloat16"
    list(run_in_folder(tmp_path / "run", prepare(PLAN)))
    description = read_description(tmp_path / "run")
    assert description["train"]["dtype"] == description["plan"]["train"]["dtype"] == name
    settings = tomllib.loads((tmp_path / "run" / "run.toml").read_text("utf-8"))
    assert settings["dtype"] == name
    monkeypatch.setattr(device, "BFLOAT16_FROM", float("inf") - most if most else float("inf"))
    longer = prepare_again(tmp_path / "run", steps=6)
    assert longer.config.dtype == name  # it goes on as it began
    list(run_in_folder(tmp_path / "run", longer, resume=True))
    assert read_description(tmp_path / "run")["train"]["dtype"] == name
