"""Runs of a small transformer on `names`, for tests that need one that was really trained."""

from typing import Any

from llmviz.training.config import Plan, TrainConfig


def small_training(**train: Any) -> TrainConfig:
    """Settings with which every run of the same seed has the same numbers, to the bit."""
    settings = {"batch_size": 8, "device": "cpu", "dtype": "float32", "threads": 1}
    return TrainConfig(**settings | train)


def small_plan(train: TrainConfig, *, n_embd: int = 16, windows: str = "auto") -> Plan:
    """One layer with two heads, and dropout, whose random numbers a run has to keep."""
    return Plan(
        model="gpt",
        model_options={"n_layer": 1, "n_head": 2, "n_embd": n_embd, "dropout": 0.1},
        corpus="names",
        context_length=16,
        windows=windows,
        train=train,
    )
