"""The parts of a model's loss on stories and of a text: identities, torch, a second way to each."""

import math

import numpy as np
import pytest
import torch

from llmviz.corpus import generate, parse
from llmviz.corpus.next_tokens import true_tokens
from llmviz.evaluation import exact_loss, text_loss
from llmviz.pretrained import load_bundled

TEXTS = [story.text for story in generate(6, seed=20_000)]


@pytest.fixture(scope="module")
def draft():
    return load_bundled("drafts/tiny-world")[:2]


def test_the_parts_add_up_to_the_loss_that_torch_computes(draft):
    model, tokenizer = draft
    for text in TEXTS[:3]:
        parts, truth = exact_loss.divide_loss(model, tokenizer, text), true_tokens(text, tokenizer)
        ids = torch.tensor([tokenizer.behind_start(truth.ids)])
        with torch.inference_mode():
            logits = model(ids[:, :-1])[0].double()
        theirs = torch.nn.functional.cross_entropy(logits[0], ids[0, 1:], reduction="none")
        assert parts.loss == pytest.approx(theirs.numpy(), abs=1e-6)
        assert parts.entropy + parts.divergence + parts.dice == pytest.approx(parts.loss)
        assert (parts.divergence >= 0).all() and (parts.entropy >= 0).all()
        assert -np.log(parts.true).sum() == pytest.approx(-parse(text).log_prob, abs=1e-6)
        for t, following in enumerate(truth.following[: len(parts)]):
            p = torch.tensor(following.dense(tokenizer.vocab_size))
            q = torch.log_softmax(logits[0, t], -1)
            kl = torch.nn.functional.kl_div(q, p, reduction="sum")
            assert parts.divergence[t] == pytest.approx(float(kl), abs=1e-6)


def test_a_model_that_knows_the_grammar_has_only_the_worlds_own_loss(draft):
    truth = true_tokens(TEXTS[0], draft[1])
    with np.errstate(divide="ignore"):
        logits = np.log([one.dense(draft[1].vocab_size) for one in truth.following[:60]])
    parts = exact_loss.divide_logits(np.maximum(logits, -700), truth)
    assert parts.divergence == pytest.approx(np.zeros(60), abs=1e-9)
    assert parts.best_guess.all()
    assert parts.loss == pytest.approx(-np.log(parts.true))
    assert parts.guess_true == pytest.approx(parts.best_true)


def test_the_dice_have_a_mean_of_0_over_what_could_have_come(draft):
    """Each token that can come, weighted by how probable it is."""
    model, tokenizer = draft
    truth = true_tokens(TEXTS[1], tokenizer)
    logits = exact_loss.story_logits(model, tokenizer, truth)
    parts = exact_loss.divide_logits(logits, truth)
    for t in (0, 5, 20, 50):
        following = truth.following[t]
        losses = -torch.log_softmax(torch.tensor(logits[t]), -1).numpy()[following.ids]
        dice = losses - parts.entropy[t] - parts.divergence[t]
        assert following.probabilities @ dice == pytest.approx(0, abs=1e-9)


def test_what_is_drawn_again_can_come_and_comes_as_often_as_it_should(draft):
    truth = true_tokens(TEXTS[2], draft[1])
    drawn = np.array([exact_loss.draw_again(truth, 12, seed) for seed in range(600)])
    assert np.array_equal(drawn[3], exact_loss.draw_again(truth, 12, 3))
    for t, following in enumerate(truth.following[:12]):
        seen, counts = np.unique(drawn[:, t], return_counts=True)
        assert set(seen.tolist()) <= set(following.ids.tolist())
        for token, times in zip(seen.tolist(), counts.tolist(), strict=True):
            p = following.of(token)
            assert abs(times - 600 * p) < 5 * math.sqrt(600 * p * (1 - p)) + 1


def test_a_corpus_has_the_means_of_all_its_tokens_and_an_error_that_shrinks(draft):
    stories = [exact_loss.divide_loss(*draft, text) for text in TEXTS]
    whole = exact_loss.corpus_loss(stories)
    assert whole.tokens == sum(map(len, stories))
    assert whole.loss.value == pytest.approx(np.concatenate([one.loss for one in stories]).mean())
    sums = whole.entropy.value + whole.divergence.value + whole.dice.value
    assert sums == pytest.approx(whole.loss.value)
    missed = np.concatenate([one.missed for one in stories]).mean()
    assert whole.by_dice.value + whole.by_divergence.value == pytest.approx(missed)
    # of equal lengths the ratio estimator is the plain mean with its plain standard error
    values = np.array([3.0, 5.0, 10.0, 2.0])
    plain = exact_loss.mean_per_token(values * 7, [7] * 4)
    assert plain.value == pytest.approx(values.mean())
    assert plain.error == pytest.approx(values.std(ddof=1) / 2)
    assert exact_loss.mean_per_token([4.0], [2]).error == math.inf


def test_a_text_outside_the_grammar_is_divided_up_to_there(draft):
    model, tokenizer = draft
    assert len(exact_loss.divide_loss(model, tokenizer, "Hello world")) == 0
    assert len(exact_loss.divide_loss(model, tokenizer, "")) == 0
    cut = exact_loss.divide_loss(model, tokenizer, TEXTS[0][:80] + " xyz")
    whole = exact_loss.divide_loss(model, tokenizer, TEXTS[0])
    assert 0 < len(cut) < len(whole)
    assert cut.loss[:10] == pytest.approx(whole.loss[:10], abs=1e-5)
    with pytest.raises(ValueError, match="at least 1 token"):
        exact_loss.corpus_loss([exact_loss.divide_loss(model, tokenizer, "Hello")])
    with pytest.raises(ValueError, match="0 tokens have"):
        exact_loss.divide_logits(
            np.zeros((1, tokenizer.vocab_size)), true_tokens("Hello", tokenizer)
        )


TARGETS = (1, 0, 3, 1, 2)
LOGITS = np.random.default_rng(0).normal(size=(len(TARGETS), 4)) * 3


def test_the_logits_are_those_before_each_target():
    table = torch.arange(12.0).reshape(4, 3)

    def model(ids: torch.Tensor) -> tuple[torch.Tensor]:
        return (table[ids],)

    logits = text_loss.target_logits(model, [2, 0, 3])
    assert logits.dtype == np.float64 and np.array_equal(logits, table[[2, 0]].numpy())


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("token", [None, 1])
@pytest.mark.parametrize("skipped", [(), (0, 3)])
def test_the_steps_end_where_torch_does(reduction, smoothing, token, skipped):
    settings = text_loss.LossSettings(reduction, skipped, token, 2.5, smoothing)
    ours = text_loss.loss_steps(LOGITS, TARGETS, settings).loss.numpy()
    assert np.allclose(ours, text_loss.torch_loss(LOGITS, TARGETS, settings), atol=1e-12)


def test_a_token_counts_as_often_as_its_weight_says():
    """Weight 3 for a token is each of its positions three times."""
    places = [i for i, token in enumerate(TARGETS) for _ in range(3 if token == 1 else 1)]
    often = text_loss.loss_steps(LOGITS[places], [TARGETS[i] for i in places]).loss
    for of in (lambda *given: text_loss.loss_steps(*given).loss, text_loss.torch_loss):
        assert float(
            of(LOGITS, TARGETS, text_loss.LossSettings(token=1, weight=3.0))
        ) == pytest.approx(float(often))


def test_a_mean_over_nothing_is_refused():
    with pytest.raises(ValueError):
        text_loss.loss_steps(
            LOGITS, TARGETS, text_loss.LossSettings(skipped=tuple(range(len(TARGETS))))
        )
