"""Training: against recounting everything, and against the compiled trainer."""

import json
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from llmviz.tokenizers import BPETokenizer
from llmviz.tokenizers.pretokenize import byte_to_character, pretokenize
from tests.tokenizers.samples import CORPUS, random_texts

ALPHABET = byte_to_character()


def recount_training(documents, n_merges, key):
    """Count all pairs of all pieces at every merge: yields (pair counts, chosen pair, length)."""
    pieces = [list(p.encode("utf-8")) for text in documents for p in pretokenize(text)]
    for index in range(n_merges):
        counts = Counter(pair for ids in pieces for pair in pairwise(ids))
        if not counts:
            return
        best = min(counts, key=lambda pair: (-counts[pair], key(pair)))
        for ids in pieces:
            i = 0
            while i < len(ids) - 1:
                if (ids[i], ids[i + 1]) == best:
                    ids[i : i + 2] = [256 + index]
                i += 1
        yield counts, best, sum(map(len, pieces))


KEYS = {
    "lowest-ids": lambda pair: pair,
    "gpt2-alphabet": lambda pair: [(i > 255, i if i > 255 else ord(ALPHABET[i])) for i in pair],
}


def check_against_recount(documents, n_merges, tie):
    steps = list(BPETokenizer.train_steps(documents, 257 + n_merges, tie=tie, top=7))
    expected = list(recount_training(documents, n_merges, KEYS[tie]))
    assert len(steps) == len(expected)
    for index, (step, (counts, best, length)) in enumerate(zip(steps, expected, strict=True)):
        ranking = sorted(counts.items(), key=lambda item: (-item[1], KEYS[tie](item[0])))
        assert (step.index, step.pair, step.count) == (index, best, counts[best])
        assert step.top == tuple(ranking[:7])
        assert step.n_tied == list(counts.values()).count(step.count)
        assert step.ties == tuple(pair for pair, count in ranking[:7] if count == step.count)
        assert step.corpus_length_after == length
        assert (step.new_id, step.vocab_size_after) == (256 + index, 258 + index)


@pytest.mark.parametrize("tie", KEYS)
def test_every_step_equals_a_full_recount(tie):
    check_against_recount([CORPUS.read_text(encoding="utf-8")[:6000]], 120, tie)
    check_against_recount(random_texts(60, seed=3), 120, tie)


@settings(max_examples=60)
@given(st.lists(st.text("aab \n", max_size=30), max_size=4), st.sampled_from(sorted(KEYS)))
def test_runs_of_equal_letters_equal_a_full_recount(documents, tie):
    check_against_recount(documents, 15, tie)


def compiled_merges(documents, vocab_size):
    """Return the merges of the `tokenizers` library's trainer as byte strings."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=list(ALPHABET), show_progress=False
    )
    tokenizer.train_from_iterator(documents, trainer)
    byte_of = {character: byte for byte, character in enumerate(ALPHABET)}
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(bytes(byte_of[c] for c in half) for half in merge) for merge in merges]


def as_bytes(tokenizer):
    return [(tokenizer.token_bytes(a), tokenizer.token_bytes(b)) for a, b in tokenizer.merges]


def test_merges_equal_the_compiled_trainer_with_its_tie_rule():
    text = CORPUS.read_text(encoding="utf-8")
    ours = BPETokenizer.train(text, 2048, special_tokens=(), tie="gpt2-alphabet")
    assert as_bytes(ours) == compiled_merges([text], 2048)


def test_the_default_tie_rule_differs_from_the_compiled_trainer_at_a_tie_only():
    text = CORPUS.read_text(encoding="utf-8")[:200_000]
    theirs = compiled_merges([text], 1024)
    tokenizer = BPETokenizer.train(text, 1024, special_tokens=())
    steps = BPETokenizer.train_steps(text, 1024, special_tokens=(), top=50)
    for step, merge, other in zip(steps, as_bytes(tokenizer), theirs, strict=True):
        if merge != other:
            tied = [tuple(map(tokenizer.token_bytes, pair)) for pair in step.ties]
            assert step.n_tied > 1
            assert other in tied
            return
    pytest.fail("no tie was met, so the rules were not compared")


def test_training_is_the_end_of_its_steps():
    text = CORPUS.read_text(encoding="utf-8")[:50_000]
    seen = []
    tokenizer = BPETokenizer.train(text, 400, progress=lambda *done: seen.append(done))
    steps = list(BPETokenizer.train_steps(text, 400))
    assert tokenizer.merges == [step.pair for step in steps]
    assert [tokenizer.token_bytes(step.new_id) for step in steps] == [s.new_bytes for s in steps]
    assert seen == [(i + 1, 143) for i in range(143)]
    assert len(tokenizer.encode(text)) == steps[-1].corpus_length_after
    assert [s.pair for s in BPETokenizer.train_steps(text, 400, top=0)] == tokenizer.merges


def test_documents_are_a_border_for_merges():
    joined = BPETokenizer.train("ab" * 10, 258)
    apart = BPETokenizer.train(["a", "b"] * 10, 258)
    assert (joined.merges, apart.merges) == ([(97, 98)], [])


def test_training_stops_when_the_corpus_gives_out():
    tokenizer = BPETokenizer.train("low lower lowest", 5000)
    assert tokenizer.stopped_early
    assert tokenizer.vocab_size == 257 + len(tokenizer.merges)
    assert len(tokenizer.encode("low lower lowest")) == 3
    assert not BPETokenizer.train("low lower lowest", 260).stopped_early
    assert BPETokenizer.train("x", 300).merges == list(BPETokenizer.train_steps("", 300)) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vocab_size": 255}, "at least 257"),
        ({"vocab_size": 256}, "at least 257"),
        ({"vocab_size": 0, "special_tokens": ()}, "at least 256"),
        ({"vocab_size": 300, "tie": "random"}, "tie must be one of"),
        ({"vocab_size": 300, "special_tokens": ("<|a|>", "<|a|>")}, "must differ"),
    ],
)
def test_what_cannot_be_trained_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        BPETokenizer.train("some text", **arguments)
