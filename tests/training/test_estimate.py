"""What is estimated before a run is what the run then has: parameters, memory, checkpoints."""

import dataclasses
import weakref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from llmviz.corpus import load_corpus
from llmviz.models import MODELS, build
from llmviz.training import TrainConfig
from llmviz.training.config import Plan
from llmviz.training.estimate import estimate, run_seconds, vocabulary
from llmviz.training.plan import check_corpus, prepare
from llmviz.training.preparation import make_optimizer
from llmviz.training.run_folder import run_in_folder


class Live(TorchDispatchMode):
    """Counts the bytes of all tensors that live, and the most there ever were."""

    def __init__(self):
        super().__init__()
        self.now = self.most = 0
        self.known = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        for tensor in out if isinstance(out, tuple | list) else (out,):
            if isinstance(tensor, torch.Tensor):
                self.note(tensor.untyped_storage())
        return out

    def note(self, storage):
        if storage._cdata not in self.known and storage.nbytes():
            self.known.add(storage._cdata)
            size = storage.nbytes()
            self.now += size
            self.most = max(self.most, self.now)
            weakref.finalize(storage, self.gone, storage._cdata, size)

    def gone(self, key, size):
        self.known.discard(key)
        self.now -= size


def height_of_a_step(model, config, batch):
    """Bytes of the tensors of a step at its height, counted as they come and go."""
    own = {p.untyped_storage()._cdata: p.untyped_storage().nbytes() for p in model.parameters()}
    optimizer = make_optimizer(model, config)
    heights = []
    for _ in range(2):  # the first step makes the optimizer's state
        with Live() as live:
            model(*batch)[1].backward()
            optimizer.step()
        heights.append(live.most)
        state = sum(
            value.nbytes
            for entry in optimizer.state.values()
            for value in entry.values()
            if isinstance(value, torch.Tensor) and value.dim()
        )
        optimizer.zero_grad(set_to_none=True)
    return sum(own.values()) + state + heights[1]


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
@pytest.mark.parametrize("name", [one for one, entry in MODELS.items() if entry.next_token])
def test_parameters_are_exact_and_memory_is_close(name, optimizer):
    train = TrainConfig(steps=10, batch_size=16, optimizer=optimizer, snapshot_every=5)
    plan = Plan(model=name, context_length=64, train=train)
    guess = estimate(plan, 97)
    model = build(name, {"vocab_size": 97, "context_length": 64}).train()
    assert guess.parameters == sum(p.numel() for p in model.parameters())
    assert guess.weights == sum(p.nbytes for p in model.parameters())
    idx = torch.randint(0, 97, (16, 64))
    measured = height_of_a_step(model, train, (idx, idx))
    assert measured / 1.6 < guess.memory < 1.6 * measured


WORD_VECTORS = Plan(
    model="word2vec",
    model_options={"n_embd": 32, "window": 5, "negatives": 5},
    corpus="tiny-world-sample",
    tokenizer="word",
    windows="documents",
    train=TrainConfig(batch_size=16),
)


@pytest.mark.parametrize(
    ("plan", "least", "most"),
    [
        *(  # sentences are shorter than the context
            (Plan(model=name, corpus="pairs", tokenizer="word", context_length=32), 1 / 2, 4)
            for name, entry in MODELS.items()
            if entry.translates
        ),
        (WORD_VECTORS, 1 / 1.6, 2.5),  # frequent words are thinned out
    ],
    ids=lambda one: getattr(one, "model", None),
)
def test_translations_and_word_vectors_are_estimated_too(plan, least, most):
    documents, _ = check_corpus(plan)
    guess = estimate(plan, vocabulary(plan, documents))
    run, rows = prepare(plan), plan.train.batch_size
    assert guess.vocab_size == run.tokenizer.vocab_size
    assert guess.parameters == sum(p.numel() for p in run.model.parameters())
    batches = [run.data.batch(step, rows) for step in range(1, 6)]
    measured = max(height_of_a_step(run.model, plan.train, batch) for batch in batches)
    assert least * measured < guess.memory < most * measured


def test_memory_grows_with_what_it_should():
    small = Plan(model="gpt", context_length=32, train=TrainConfig(batch_size=8))
    more = dataclasses.replace(small, train=TrainConfig(batch_size=16))
    split = dataclasses.replace(small, train=TrainConfig(batch_size=16, accumulate=2))
    a, b, c = (estimate(plan, 50) for plan in (small, more, split))
    assert b.activations == pytest.approx(2 * a.activations, rel=0.05)
    assert c.activations == a.activations and c.tokens_per_step == b.tokens_per_step
    assert a.parameters == b.parameters == c.parameters


def test_recomputing_is_estimated_to_take_less():
    plain = Plan(model="gpt", context_length=32, model_options={"n_layer": 8})
    found = [
        estimate(
            dataclasses.replace(plain, train=dataclasses.replace(plain.train, recompute=every)), 50
        ).activations
        for every in (0, 1, 2, 4, 8, 100)
    ]
    whole, one, two, four, eight, more = found
    assert one < two < four < whole and eight <= whole and more <= whole
    kept = 4 * plain.train.batch_size * 32 * 128  # bytes of one input
    layer = (four - two + 2 * kept) / 2  # of 8 layers, 4 and 2 inputs are kept
    assert whole - four == pytest.approx(4 * layer - 2 * kept)
    with pytest.raises(ValueError, match="recompute must be 0"):
        train = dataclasses.replace(plain.train, recompute=1)
        estimate(Plan(model="gru", context_length=32, train=train), 50)


def test_checkpoints_take_the_room_that_was_said(tmp_path):
    train = TrainConfig(
        steps=5, batch_size=4, warmup_steps=1, snapshot_every=2, eval_batches=1, threads=1
    )
    plan = Plan(
        model="gpt",
        model_options={"n_layer": 2, "n_head": 2, "n_embd": 64},
        corpus="names",
        context_length=16,
        train=train,
    )
    run = prepare(plan)
    list(run_in_folder(tmp_path, run))
    documents, _ = check_corpus(plan)
    guess = estimate(plan, vocabulary(plan, documents))
    assert guess.vocab_size == run.tokenizer.vocab_size
    sizes = [
        sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        for folder in (tmp_path / "checkpoints").iterdir()
    ]
    assert len(sizes) == guess.checkpoints == 3  # steps 2 and 4, and the last one
    assert max(sizes) == pytest.approx(guess.checkpoint, rel=0.1)


@pytest.mark.parametrize("tokenizer", ["char", "word", "bpe"])
def test_the_vocabulary_is_that_of_the_run(tokenizer):
    plan = Plan(model="bigram", corpus="story", tokenizer=tokenizer, context_length=8)
    if tokenizer == "bpe":
        plan = dataclasses.replace(plan, vocab_size=300)
    documents, most = check_corpus(plan)
    run = prepare(plan)
    assert vocabulary(plan, documents) == run.tokenizer.vocab_size
    assert len(run.data.train.ids) <= most


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": "oracle"}, "model must be one of"),
        ({"model_options": {"n_embd": 30, "n_head": 4}}, "n_head must divide n_embd"),
        ({"model_options": {"n_legs": 3}}, "no field 'n_legs'"),
        ({"model": "wavenet", "model_options": {"n_layer": 13}}, "n_layer must be at most 12"),
        ({"model_options": {"n_layer": 1_001}}, "n_layer must be at most 1,000"),
        ({"model_options": {"n_expert": 1_001}}, "n_expert must be at most 1,000"),
        (
            {"model": "seq2seq", "corpus": "pairs", "tokenizer": "bpe"},
            "needs the tokenizer word or char",
        ),
        ({"tokenizer": "bpe", "vocab_size": 256}, "must be at least 257"),
        ({"vocab_size": 2}, "vocab_size must be above 3"),
        ({"model": "seq2seq", "corpus": "names"}, "must be pairs of sentences; got names"),
        (
            {"corpus": "pairs", "tokenizer": "word"},
            "which seq2seq or seq2seq-rnn learns; got model=gpt",
        ),
    ],
)
def test_what_cannot_work_is_said_before(changes, words):
    plan = dataclasses.replace(Plan(corpus="names"), **changes)
    with pytest.raises(ValueError, match=words):
        estimate(plan, vocabulary(plan, check_corpus(plan)[0]))
    with pytest.raises(ValueError):
        prepare(plan)


def test_a_text_that_is_too_short_is_said_before(tmp_path):
    (tmp_path / "corpus.txt").write_text("a short text", "utf-8")
    plan = Plan(corpus="corpus.txt", context_length=64)
    with pytest.raises(ValueError, match="longer than the context"):
        check_corpus(plan, tmp_path)
    (tmp_path / "corpus.txt").write_text("x", "utf-8")
    with pytest.raises(ValueError, match="'your text' is too short to split"):
        check_corpus(plan, tmp_path)
    with pytest.raises(ValueError, match="tokenizer must be one of"):
        vocabulary(dataclasses.replace(plan, tokenizer="runes"), ["a"])


def test_tiny_world_is_judged_by_its_sample_not_written_first():
    documents, _ = check_corpus(Plan(corpus="tiny-world", characters=40_000_000))
    sample, _ = load_corpus("tiny-world-sample").split(0.1, 0)
    assert documents == list(sample)


def test_time_counts_validation():
    assert run_seconds(TrainConfig(steps=100, eval_every=0, eval_batches=3), 0.1) == (
        pytest.approx(10.1)
    )
    assert run_seconds(TrainConfig(steps=100, eval_every=50, eval_batches=3), 0.1) == (
        pytest.approx(10.3)
    )
