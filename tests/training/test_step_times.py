"""Steps are measured in turns, on the batch that the models learned from."""

import pytest
import torch

from llmviz.corpus import load_corpus
from llmviz.course.lessons.transformer.since.model import checkpoint
from llmviz.tokenizers import get_tokenizer
from llmviz.training import step_times as timing
from llmviz.training.step_times import batch, step_times


def test_every_model_steps_in_turn_and_its_shortest_step_counts(monkeypatch):
    made = []
    monkeypatch.setattr(timing, "_step", lambda name: lambda: made.append(name))
    took = {"a": [3.0, 1.0, 2.0], "b": [5.0, 6.0, 4.0]}
    moments = []
    for number in range(3):
        for name in took:
            moments += [10.0 * len(moments), 10.0 * len(moments) + took[name][number]]
    clock = iter(moments)
    monkeypatch.setattr(timing.time, "thread_time", lambda: next(clock))
    threads = torch.get_num_threads()
    found = list(step_times(["a", "b"], 3))
    assert made == ["a", "b"] * 4  # the first of each is not counted
    assert [one.rounds for one in found] == [1, 2, 3]
    assert found[0].milliseconds == pytest.approx({"a": 3000, "b": 5000})
    assert found[-1].milliseconds == pytest.approx({"a": 1000, "b": 4000})
    assert torch.get_num_threads() == threads


def test_a_step_trains_the_model_it_names():
    (found,) = step_times([checkpoint("pre-norm")], 1)
    assert found.milliseconds[checkpoint("pre-norm")] > 0
    with pytest.raises(ValueError, match="at least one model"):
        next(step_times([]))
    with pytest.raises(ValueError):
        next(step_times(["since-2017/nowhere"]))


def test_the_batch_is_the_beginning_of_the_stories():
    tokenizer = get_tokenizer("bpe")
    found = batch(tokenizer, 3, 20)
    assert found.shape == (3, 21)
    first = tokenizer.encode_from_start(load_corpus(timing.CORPUS).documents[0])
    assert found.flatten().tolist()[: min(63, len(first))] == first[:63]
