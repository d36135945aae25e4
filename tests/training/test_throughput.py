"""How long a run takes: what is measured, in turns, and what is reckoned from it."""

import dataclasses
from types import SimpleNamespace

import pytest
import torch

from llmviz.cli.train_header import header
from llmviz.corpus import load_corpus
from llmviz.course.lessons.transformer.since.model import checkpoint
from llmviz.evaluation import step_times as timing
from llmviz.evaluation.step_times import batch, step_times
from llmviz.tokenizers import get_tokenizer
from llmviz.training.config import Plan
from llmviz.training.plan import prepare
from llmviz.training.throughput import (
    Throughput,
    TimedStep,
    fastest_step,
    kind_of,
    predict_seconds,
    step_seconds,
    work,
)
from tests.training.small_plans import small_training

PLAN = Plan(
    model="gpt",
    model_options={"n_layer": 1, "n_head": 2, "n_embd": 16},
    corpus="names",
    context_length=8,
    train=small_training(steps=5, batch_size=4, warmup_steps=1),
)


def in_batches(plan: Plan, size: int) -> Plan:
    return dataclasses.replace(plan, train=dataclasses.replace(plan.train, batch_size=size))


def test_what_was_measured_is_reckoned_as_it_was():
    known = [Throughput(kind_of(PLAN), work(PLAN, 5000), 0.25)]
    assert predict_seconds(PLAN, 5000, known) == pytest.approx(0.25)


def test_twice_the_batch_takes_twice_as_long():
    known = [Throughput(kind_of(PLAN), work(PLAN, 5000), 0.25)]
    assert predict_seconds(in_batches(PLAN, 8), 5000, known) == pytest.approx(0.5)
    assert predict_seconds(in_batches(PLAN, 2), 5000, known) == pytest.approx(0.125)


def test_the_nearest_of_its_kind_counts():
    other = dataclasses.replace(PLAN, model="gru")
    far = in_batches(PLAN, 400)
    known = [
        Throughput(kind_of(far), work(far, 5000), 1.0),
        Throughput(kind_of(PLAN), work(PLAN, 5000), 0.25),
        Throughput(kind_of(other), work(in_batches(PLAN, 8), 5000), 9.0),
    ]
    assert predict_seconds(in_batches(PLAN, 8), 5000, known) == pytest.approx(0.5)
    assert predict_seconds(other, 5000, known) == pytest.approx(
        9.0 * work(other, 5000) / known[2].work
    )
    assert predict_seconds(dataclasses.replace(PLAN, model="rnn"), 5000, known) is None
    assert predict_seconds(PLAN, 5000, []) is None


def test_attention_is_counted_for_every_pair_of_tokens():
    longer = dataclasses.replace(PLAN, context_length=16)
    tokens = PLAN.train.batch_size * 8
    assert work(PLAN, 5000) == tokens * (6 * 5000 + 12 * 16 * 8)
    assert work(longer, 5000) > 2 * work(PLAN, 5000)
    plain = dataclasses.replace(PLAN, model="bigram", model_options={})
    assert work(plain, 5000) == tokens * 6 * 5000


def test_steps_are_taken_with_the_corpus_or_without_it():
    assert 0 < step_seconds(PLAN) < 60
    nowhere = dataclasses.replace(PLAN, corpus="no such text")
    assert 0 < step_seconds(nowhere, vocab_size=30) < 60
    with pytest.raises(ValueError):
        step_seconds(nowhere)
    vectors = dataclasses.replace(nowhere, model="word2vec", model_options={})
    assert 0 < step_seconds(vectors, vocab_size=30) < 60
    assert step_seconds(nowhere, 30, ended=lambda: True) is None
    with pytest.raises(ValueError, match="translates"):
        step_seconds(dataclasses.replace(nowhere, model="seq2seq"), 30)


def test_the_nearest_is_the_one_of_the_smallest_factor():
    """Of twice and a third of the work, the double one is nearer, though further in numbers."""
    known = [
        Throughput(kind_of(PLAN), factor * work(PLAN, 5000), seconds)
        for factor, seconds in ((2, 1.0), (1 / 3, 9.0))
    ]
    assert predict_seconds(PLAN, 5000, known) == pytest.approx(0.5)


def test_every_model_steps_in_turn_and_its_shortest_step_counts(monkeypatch):
    made = []
    monkeypatch.setattr(timing, "_step", lambda name: lambda: made.append(name))
    took = {"a": [3.0, 1.0, 2.0], "b": [5.0, 6.0, 4.0]}
    moments = []
    for number in range(3):
        for name in took:
            moments += [10.0 * len(moments), 10.0 * len(moments) + took[name][number]]
    clock = iter(moments)
    monkeypatch.setattr(timing, "time", SimpleNamespace(thread_time=lambda: next(clock)))
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


@pytest.mark.parametrize("compile_", ["on", "off"])
def test_the_steps_that_compile_a_model_do_not_count(monkeypatch, compile_):
    """A clock of our own: the first two steps of a compiled model take half a minute each."""
    clock = [0.0]
    compiled = compile_ == "on"

    def train(model, data, config):
        assert config.compile == compile_
        for step in range(1, config.steps + 1):
            clock[0] += 30.0 if compiled and step <= 2 else 0.25
            yield SimpleNamespace(tokens=32 * step)

    monkeypatch.setattr("llmviz.training.loop.train", train)
    monkeypatch.setattr("llmviz.training.throughput.time.perf_counter", lambda: clock[0])
    config = small_training(steps=5, compile=compile_, device="cpu")
    assert fastest_step(torch.nn.Linear(1, 1), None, config) == (0.25, 32)


def test_no_time_is_expected_of_a_run_that_is_compiled(tmp_path, monkeypatch):
    """Measuring would compile it, and the run would once more."""
    run = prepare(PLAN)
    timed = []
    monkeypatch.setattr(
        "llmviz.cli.train_header.fastest_step",
        lambda *given: timed.append(given) or TimedStep(0.5, 32),
    )
    for compile_, count in (("off", 1), ("on", 1)):
        config = dataclasses.replace(run.config, compile=compile_, threads=1, dtype="float32")
        lines, _ = header(dataclasses.replace(run, config=config), tmp_path, resume=False)
        assert len(timed) == count and ("64 tokens a second" in lines) == (compile_ == "off")
