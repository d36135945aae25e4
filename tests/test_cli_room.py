"""What a machine has no memory for is refused before it is built, with both numbers."""

import dataclasses
import re
import resource

import pytest
import torch

from llmviz.models import MODELS, build, memory_limits, registry
from llmviz.models.registry import bytes_needed
from llmviz.nn.layers import FeedForward
from llmviz.training import estimate as estimates
from llmviz.training.config import Plan, TrainConfig
from llmviz.training.estimate import check_room, estimate
from llmviz.training.plan import prepare
from tests.test_cli import refused

GB = 10**9


@pytest.fixture
def small_machine(monkeypatch):
    """A machine with two gigabytes free."""
    monkeypatch.setattr(memory_limits, "free_memory", lambda: 2 * GB)


TOO_LARGE = [
    ["--n-layer", "200", "--n-embd", "4096"],
    ["--n-layer", "2147483647"],
    ["--n-embd", "4000000"],
    ["--n-embd", "2147483644"],
    ["--n-head", "2147483647", "--n-embd", "2147483647"],
    ["--batch-size", "2147483647"],
    ["--batch-size", "200000"],
    ["--vocab-size", "2147483647", "--set", "hidden_size=16000000"],
    ["--set", "n_expert=16000000"],
    ["--set", "n_expert=1000", "--n-layer", "1000"],
    ["--set", "n_expert=200", "--n-embd", "512"],
    ["--model", "bert", "--n-layer", "200", "--n-embd", "4096"],
    ["--model", "lstm", "--n-layer", "200", "--n-embd", "4096"],
    ["--model", "mlp", "--set", "hidden_size=16000000"],
    ["--model", "mlp", "--set", "window=16000000"],
    ["--model", "wavenet", "--set", "hidden_size=1000000"],
    ["--model", "word2vec", "--set", "n_embd=16000000"],
    ["--model", "word2vec", "--set", "negatives=16000000"],
    ["--model", "seq2seq", "--corpus", "pairs", "--n-layer", "200", "--n-embd", "4096"],
    ["--model", "seq2seq", "--corpus", "pairs", "--context-length", "16000000"],
    ["--model", "seq2seq", "--corpus", "pairs", "--batch-size", "20000000"],
    ["--model", "seq2seq-rnn", "--corpus", "pairs", "--set", "hidden_size=1000000"],
    ["--corpus", "names", "--context-length", "16000000"],
    ["--corpus", "tiny-world", "--characters", "2147483647"],
]


NEEDS = re.compile(r"needs about [\d.,]+ [kMGT]?B of memory, and 2 GB are free here; make ")
BOUND = re.compile(r"must be at most [\d,]+ for a |must be at most \d+; got")


def most_so_far():
    """The most bytes that this process has held at once."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("given", TOO_LARGE, ids=" ".join)
def test_too_large_a_run_is_refused_before_it_is_built(
    capsys, text, tmp_path, small_machine, given
):
    own = [] if "--corpus" in given else ["--corpus", str(text)]
    before = most_so_far()
    line = refused(capsys, "train", "--out", str(tmp_path / "run"), "--device", "cpu", *own, *given)
    assert NEEDS.search(line) or BOUND.search(line), line
    assert most_so_far() - before < GB
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "given",
    [
        ["--examples", "2147483647"],
        ["--test-examples", "20001"],
        ["--batch-size", "2147483647"],
        ["--batch-size", "100000"],
        ["--way", "head", "--batch-size", "2147483647"],
        ["--task", "shorter", "--batch-size", "100000"],
        ["--task", "instructions", "--batch-size", "100000"],
        ["--task", "rules", "--batch-size", "100000"],
    ],
    ids=" ".join,
)
def test_too_large_a_tuning_is_refused_before_it_begins(capsys, tmp_path, small_machine, given):
    before = most_so_far()
    some = [] if "--examples" in given else ["--examples", "40"]
    some += [] if "--test-examples" in given else ["--test-examples", "40"]
    line = refused(capsys, "finetune", "--out", str(tmp_path / "run"), *some, *given)
    assert NEEDS.search(line) or "examples must be at most 20,000; got" in line, line
    assert most_so_far() - before < GB
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", MODELS)
def test_build_says_what_a_model_needs_and_builds_none_of_it(name, small_machine, monkeypatch):
    config = MODELS[name].config()
    exact = sum(one.nbytes for one in (lambda m: (*m.parameters(), *m.buffers()))(build(name)))
    monkeypatch.setattr(memory_limits, "free_memory", lambda: exact)
    assert build(name, config).config == config
    monkeypatch.setattr(memory_limits, "free_memory", lambda: exact - 1)
    with pytest.raises(ValueError, match=f"a {name} of these sizes needs about .* are free here"):
        build(name, config)
    with torch.device("meta"):  # which takes no memory
        build(name, config)


@pytest.mark.parametrize("name", MODELS)
def test_looking_changes_nothing_in_what_is_built(name):
    torch.manual_seed(3)
    plain, after = MODELS[name].model(MODELS[name].config()), torch.rand(3)
    torch.manual_seed(3)
    looked_at = build(name)
    assert torch.equal(torch.rand(3), after)
    pairs = zip(plain.state_dict().values(), looked_at.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_a_run_that_just_fits_is_prepared_and_one_byte_less_refuses_it(monkeypatch):
    plan = Plan(corpus="names", context_length=16, windows="random")
    run = prepare(plan)
    needs = estimate(plan, run.tokenizer.vocab_size).memory
    monkeypatch.setattr(memory_limits, "free_memory", lambda: needs)
    prepare(plan)
    monkeypatch.setattr(memory_limits, "free_memory", lambda: needs - 1)
    with pytest.raises(ValueError, match=r"this run needs about .* are free here"):
        prepare(plan)


def test_short_documents_do_not_fill_a_long_context(monkeypatch):
    """Names have ten letters: rows of them are as small with any context."""
    short = Plan(corpus="names", context_length=32, windows="padded")
    long = dataclasses.replace(short, context_length=8192)
    monkeypatch.setattr(memory_limits, "free_memory", lambda: GB)
    assert prepare(long).data.longest_row == prepare(short).data.longest_row < 32
    with pytest.raises(ValueError, match="needs about"):
        prepare(dataclasses.replace(long, windows="random"))


def test_a_container_has_less_than_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(memory_limits, "_GROUP", tmp_path)
    whole = memory_limits.free_memory()
    for name, value in (("max", "max"), ("current", "5000000"), ("stat", "inactive_file 1000000")):
        (tmp_path / f"memory.{name}").write_text(f"{value}\n", encoding="utf-8")
    assert memory_limits.free_memory() == pytest.approx(whole, rel=0.2)  # no limit
    (tmp_path / "memory.max").write_text("6000000\n", encoding="utf-8")
    assert memory_limits.free_memory() == 2_000_000


SMALL = dict(n_layer=5, n_embd=8, vocab_size=11, context_length=12)
WITH_LAYERS = [  # every kind of model that has layers, and every option that changes what one holds
    ("gpt", dict(n_head=2)),
    ("gpt", dict(n_head=2, positions="rotary", norm_kind="rms", activation="swiglu", bias=False)),
    ("gpt", dict(n_head=4, n_kv_head=2, norm="post", positions="sinusoidal", dropout=0.1)),
    ("gpt", dict(n_head=2, norm="none", tied_head=False, window=3, residual=False)),
    ("gpt", dict(n_head=2, n_expert=6, experts_per_token=5)),
    ("bert", dict(n_head=2, n_expert=5)),
    ("seq2seq", dict(n_head=2)),
    ("seq2seq", dict(n_head=2, norm="pre", dropout=0.2, activation="swiglu")),
    ("rnn", dict(hidden_size=9)),
    ("lstm", dict(dropout=0.2)),
    ("gru", dict()),
    ("mlp", dict(hidden_size=9)),
    ("mlp", dict(hidden_size=9, batch_norm=False)),
    ("wavenet", dict(hidden_size=9, n_layer=3)),
]


@pytest.mark.parametrize(("name", "options"), WITH_LAYERS, ids=str)
def test_what_few_layers_say_is_what_all_layers_have(name, options, monkeypatch):
    settings = SMALL | options
    built = build(name, settings)
    held = sum(tensor.nbytes for tensor in (*built.parameters(), *built.buffers()))
    inside = {key: value for key, value in settings.items() if key in ("n_layer", "n_embd")}
    pairs = {"corpus": "pairs", "tokenizer": "word"} if name == "seq2seq" else {}
    plan = Plan(model=name, model_options=inside | options, context_length=12, **pairs)
    whole = estimate(plan, SMALL["vocab_size"])
    assert bytes_needed(name, settings) == held
    monkeypatch.setattr(registry, "OUTLINED", 3)
    assert bytes_needed(name, settings) == held
    assert estimate(plan, SMALL["vocab_size"]) == whole
    assert whole.parameters == sum(one.numel() for one in built.parameters())


@pytest.mark.parametrize(
    "given",
    [["--n-layer", "1000", "--n-embd", "512"], ["--set", "n_expert=1000", "--n-embd", "512"]],
    ids=" ".join,
)
def test_a_refusal_outlines_few_layers(capsys, text, tmp_path, small_machine, monkeypatch, given):
    networks = []
    original = FeedForward.__init__

    def counted(self, *sizes, **more):
        networks.append(sizes)
        original(self, *sizes, **more)

    monkeypatch.setattr(FeedForward, "__init__", counted)
    line = refused(capsys, "train", "--out", str(tmp_path / "run"), "--corpus", str(text), *given)
    assert NEEDS.search(line), line
    assert 0 < len(networks) <= 20  # of 1,000, or of 4,000


@pytest.mark.parametrize(("shard", "processes"), [(False, 1), (False, 2), (True, 2)])
def test_on_a_gpu_its_own_memory_has_to_hold_what_a_run_keeps(monkeypatch, shard, processes):
    """Weights, gradients and the optimizer's averages, in shares where they are divided."""
    plan = Plan(context_length=16, train=TrainConfig(device="cuda", shard=shard))
    guess = estimate(plan, 40)
    needs = (guess.weights + guess.gradients + guess.optimizer) // (processes if shard else 1)
    assert guess.activations > 0
    group = dataclasses.replace(estimates.distributed.current(), size=processes)
    monkeypatch.setattr(estimates.distributed, "current", lambda: group)
    monkeypatch.setattr(estimates, "choose_device", torch.device)
    monkeypatch.setattr(
        memory_limits, "free_memory", lambda: 0
    )  # that of the machine does not count
    asked = []

    def memory(free):
        return lambda *device: asked.append(device) or (free, 80 * GB)

    monkeypatch.setattr(torch.cuda, "mem_get_info", memory(needs))
    check_room(plan, 40, 16)
    monkeypatch.setattr(torch.cuda, "mem_get_info", memory(needs - 1))
    with pytest.raises(ValueError, match=r"training this on the GPU needs about .* are free here"):
        check_room(plan, 40, 16)
    assert asked == [(), ()]
