"""Batches with hidden tokens, and questions about one hidden word at a time."""

import numpy as np
import pytest
import torch

from llmviz.models import build
from llmviz.tokenizers import train_tokenizer
from llmviz.training import TrainConfig, masked
from llmviz.training.config import Plan
from llmviz.training.data import TrainData
from llmviz.training.hidden_words import Question, evaluate_hidden, questions
from llmviz.training.masked import HIDDEN, MASKED, REPLACED, MaskedData, hide_any_share, hide_tokens
from llmviz.training.plan import prepare

TEXTS = [f"the {a} and the {b} sat on the mat" for a in "abcdefg" for b in "abcdefg"]


def rng(seed=0):
    return np.random.default_rng(seed)


def test_the_shares_are_those_of_the_paper():
    tokens = rng().integers(0, 50, (200, 300))
    may = np.ones(tokens.shape, dtype=bool)
    may[:, 0] = False
    steps = hide_tokens(tokens, may, 50, 50, rng(1))
    assert steps.chosen[:, 1:].mean() == pytest.approx(HIDDEN, abs=0.005)
    assert not steps.chosen[:, 0].any()
    assert steps.masked.sum() / steps.chosen.sum() == pytest.approx(MASKED, abs=0.01)
    assert steps.replaced.sum() / steps.chosen.sum() == pytest.approx(REPLACED, abs=0.01)
    assert not (steps.masked & steps.replaced).any()
    assert (steps.inputs[steps.masked] == 50).all()
    untouched = ~(steps.masked | steps.replaced)
    assert (steps.inputs[untouched] == tokens[untouched]).all()
    assert (steps.targets[steps.chosen] == tokens[steps.chosen]).all()
    assert (steps.targets[~steps.chosen] == -1).all()
    assert steps.inputs[steps.replaced].max() < 50


def test_at_least_one_token_is_asked_for():
    for seed in range(30):
        may = np.array([[False, True, False]])
        steps = hide_tokens(np.array([[1, 2, 3]]), may, 9, 9, rng(seed))
        assert steps.targets.tolist() == [[-1, 2, -1]]
    with pytest.raises(ValueError, match="no token that may be hidden"):
        hide_tokens(np.array([[1]]), np.array([[False]]), 9, 9, rng())


def data(context=12):
    tokenizer = train_tokenizer("word", TEXTS, None)
    text = TrainData.from_documents(
        TEXTS[:40], TEXTS[40:], tokenizer, context, windows="padded", seed=3
    )
    v = tokenizer.vocab_size
    return MaskedData(text, v, v + 1), tokenizer


def test_a_batch_is_parts_of_documents_with_hidden_tokens():
    rows, tokenizer = data()
    end, seen_short = tokenizer.special_tokens["<|endoftext|>"], False
    joined = " ".join(map(str, rows.text.train.ids))
    for step in range(1, 20):
        inputs, targets = rows.batch(step, 8)
        again = rows.batch(step, 8)
        assert torch.equal(inputs, again[0]) and torch.equal(targets, again[1])
        assert rows.count((inputs, targets)) >= 1
        assert not (targets == end).any()
        for row, asked in zip(inputs.tolist(), targets.tolist(), strict=True):
            length = row.index(rows.pad_id) if rows.pad_id in row else len(row)
            assert all(one == rows.pad_id for one in row[length:])
            assert all(one == -1 for one in asked[length:])
            seen_short |= length < 9
            if not any(one >= 0 for one in asked):  # nothing is hidden: it is a piece of the text
                assert " ".join(map(str, row[:length])) in joined
    assert seen_short
    first, second = (list(rows.validation_batches(4, 2)) for _ in range(2))
    assert all(torch.equal(a[0], b[0]) for a, b in zip(first, second, strict=True))


def test_every_part_that_a_row_may_be_cut_to_occurs_and_no_other():
    """The shortest has six tokens; a row that is not cut is whole."""
    lengths = np.array([9, 6, 3] * 3000)
    first, last = masked._cut(lengths, rng())
    for length in (9, 6, 3):
        own = lengths == length
        found = set(zip(first[own].tolist(), last[own].tolist(), strict=True))
        least = min(6, length)
        wanted = {
            (begin, begin + kept)
            for kept in range(least, length + 1)
            for begin in range(length - kept + 1)
        }
        assert found == wanted
        # Half of the rows are whole, and of the others those that are cut to all of it.
        whole = 1 / 2 + 1 / 2 / (length - least + 1)
        assert np.mean(last[own] - first[own] == length) == pytest.approx(whole, abs=0.04)


def test_every_token_of_a_row_is_asked_for_and_replaced_by_every_other():
    tokens = np.tile(np.arange(7), (4000, 1))
    steps = hide_tokens(tokens, np.ones(tokens.shape, bool), 7, 7, rng())
    assert steps.chosen.any(0).all()
    assert set(steps.inputs[steps.replaced].tolist()) == set(range(7))
    only = np.zeros((1, 7), bool)
    only[0, 2:6] = True
    lone = [hide_tokens(tokens[:1], only, 7, 7, rng(seed)) for seed in range(300)]
    assert {int(np.flatnonzero(one.chosen[0])[0]) for one in lone} == {2, 3, 4, 5}


def test_other_windows_are_refused():
    rows, _ = data()
    text = TrainData(rows.text.train, rows.text.train, 5, rows.text.vocab_size, "random")
    with pytest.raises(ValueError, match='windows="padded"'):
        MaskedData(text, 50, 51)


def test_questions_hide_words_alone():
    _, tokenizer = data()
    asked = questions(tokenizer, TEXTS[:5], 6, each=3)
    assert len(asked) == 15
    assert all(1 <= one.place < 6 and one.answer == one.ids[one.place] for one in asked)
    assert asked == questions(tokenizer, TEXTS[:5], 6, each=3)
    drawn = [one.place for seed in range(40) for one in questions(tokenizer, TEXTS[:1], 6, 1, seed)]
    assert set(drawn) == set(range(1, 6))  # every place occurs


def test_any_number_of_tokens_of_a_row_is_hidden_and_each_number_as_often():
    ids, may = np.tile(np.arange(6), (8000, 1)), np.ones((8000, 6), bool)
    may[:, 0], may[::2, 1] = False, False  # five may be hidden in a row, or four
    may[0] = False
    steps = hide_any_share(ids, may, 9, rng())
    assert not (steps.chosen & ~may).any() and not steps.replaced.any()
    assert (steps.inputs == np.where(steps.chosen, 9, ids)).all()
    assert (steps.targets == np.where(steps.chosen, ids, -1)).all()
    assert not steps.chosen[0].any(), "nothing may be hidden there"
    for row, most in ((steps.chosen[1::2], 5), (steps.chosen[2::2], 4)):
        counts = np.bincount(row.sum(1), minlength=most + 1)
        assert counts[0] == 0
        assert counts[1:] == pytest.approx(len(row) / most, abs=5 * (len(row) / most) ** 0.5)
        each = row[row.sum(1) == 1].sum(0)[6 - most :]  # which token, where it is one
        assert each == pytest.approx(counts[1] / most, abs=5 * (counts[1] / most) ** 0.5)


@pytest.mark.parametrize("kind", ["bert", "gpt", "diffusion"])
def test_scores_are_those_of_one_question_at_a_time(kind):
    torch.manual_seed(0)
    model = build(kind, dict(vocab_size=20, context_length=8, n_layer=1, n_head=2, n_embd=8)).eval()
    asked = [Question((3, 4, 5, 6), 2), Question((3, 9, 1), 1), Question((7, 8), 1)]
    nats, right = 0.0, 0
    for ids, place in asked:
        idx = torch.tensor([ids])
        if kind != "gpt":
            chances = model.fill_in(ids, place)
        else:
            chances = model(idx[:, :place])[0][0, -1].softmax(-1)
        nats -= chances[ids[place]].log().item()
        right += int(chances.argmax() == ids[place])
    score = evaluate_hidden(model, asked)
    assert score.nats == pytest.approx(nats, rel=1e-4)
    assert (score.right, score.tokens) == (right, 3)
    with pytest.raises(ValueError, match="no hidden word"):
        evaluate_hidden(model, [])


@pytest.mark.parametrize("kind", ["bert", "diffusion"])
def test_a_plan_trains_and_can_be_prepared(kind):
    plan = Plan(
        model=kind,
        model_options=dict(n_layer=1, n_head=2, n_embd=16),
        corpus="names",
        tokenizer="char",
        context_length=16,
        train=TrainConfig(steps=3, batch_size=4, eval_batches=1, device="cpu"),
    )
    run = prepare(plan)
    assert run.model.config.vocab_size == run.tokenizer.vocab_size + 2
    assert run.data.windows == "padded" and run.data.vocab_size == run.model.vocab_size
    run.model(*run.data.batch(1, 4))[1].backward()
    with pytest.raises(ValueError, match="exercises must be 0"):
        prepare(Plan(model=kind, corpus="tiny-world-sample", exercises=0.5))
