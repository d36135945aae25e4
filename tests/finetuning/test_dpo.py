"""DPO against a computation of its own; pairs that are better by their rule."""

import dataclasses
import math

import pytest
import torch

from llmviz.finetuning import dpo, preferences
from llmviz.finetuning.masked import masked_batch
from llmviz.nn.lora import add_adapter, use_adapter
from llmviz.nn.lora_config import LoraConfig
from llmviz.training import train
from tests.finetuning.conftest import small_gpt
from tests.training.small_plans import small_training


@pytest.mark.parametrize("rule", preferences.RULES)
def test_the_better_ending_scores_higher_and_both_are_endings(rule):
    some = preferences.pairs(rule, 40, seed=1)
    score = preferences.RULES[rule]
    assert len(some) == 40 and some == preferences.pairs(rule, 40, seed=1)
    for pair in some:
        assert score(pair.better, pair.story) > score(pair.worse, pair.story)
        assert pair.story.endswith(".") and pair.better.endswith(".")


def test_rules_say_what_they_mean():
    story = "They met at the mill. Anna sang."
    assert preferences.shorter("a b", story) > preferences.shorter("a b c", story)
    glad, none, sorry = "Anna was glad and ate.", "Nobody forgot Anna.", "Anna was sad and ate."
    assert [preferences.happier(one, story) for one in (glad, none, sorry)] == [1, 0, -1]
    assert preferences.names_the_place("At the mill. End.", story) == 1
    assert preferences.names_the_place("At the milling. End.", story) == 0


def test_unknown_rules_and_negative_counts_are_refused():
    with pytest.raises(ValueError, match="rule must be one of shorter, happier, place; got 'x'"):
        preferences.pairs("x", 1)
    with pytest.raises(ValueError, match="cannot be negative"):
        preferences.pairs("place", -1)


def by_hand(model, pairs, reference, beta):
    """The loss from whole-sequence probabilities, pair by pair, in float64."""
    total = 0
    for (better, worse), (ref_better, ref_worse) in zip(pairs, reference, strict=True):
        logs = []
        for text in (better, worse):
            ids = torch.tensor([one.id for one in text])
            p = model(ids[None, :-1])[0][0].double().softmax(-1)
            steps = p[torch.arange(len(ids) - 1), ids[1:]]
            counts = torch.tensor([one.counts for one in text[1:]])
            logs.append(steps[counts].prod().log())
        odds = beta * ((logs[0] - ref_better) - (logs[1] - ref_worse))
        total = total - torch.log(1 / (1 + torch.exp(-odds)))
    return total / len(pairs)


def test_loss_and_gradient_equal_an_independent_computation(model, tokenizer):
    pairs = preferences.pairs("happier", 6)
    data = dpo.prepare_pairs(model, tokenizer, pairs[:3], pairs[3:])
    wrapped = dpo.Preference(model, beta=0.3)
    batch = data.batch(1, 3)
    assert wrapped(*batch)[1].item() == pytest.approx(math.log(2), abs=1e-6)  # π is still π₀
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape))
    order = data._epochs.rows(1, 3)
    rows, reference = [data.rows[i] for i in order], data.reference[order].double()
    loss = wrapped(*batch)[1]
    loss.backward()
    ours = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    theirs = by_hand(model, rows, reference, 0.3)
    theirs.backward()
    assert loss.item() == pytest.approx(theirs.item(), rel=1e-5) and abs(loss - math.log(2)) > 1e-3
    for name, parameter in model.named_parameters():
        assert torch.allclose(ours[name], parameter.grad, atol=1e-5, rtol=1e-3), name


def test_training_raises_the_margin_and_moves_the_adapter_alone(model, tokenizer):
    pairs = preferences.pairs("shorter", 24)
    add_adapter(model, LoraConfig(4))
    data = dpo.prepare_pairs(model, tokenizer, pairs[:16], pairs[16:])
    frozen = {n: p.clone() for n, p in model.named_parameters() if not p.requires_grad}
    wrapped = dpo.Preference(model, beta=0.5)
    config = small_training(steps=12, learning_rate=1e-2, warmup_steps=0)
    records = list(train(wrapped, data, config))
    assert records[0].train_loss == pytest.approx(math.log(2), abs=1e-5)
    assert records[-1].validation_loss < math.log(2)
    batch = next(data.validation_batches(8, 1))
    assert wrapped(*batch)[0].mean() > 0
    assert all(torch.equal(frozen[n], p) for n, p in model.named_parameters() if n in frozen)
    inputs, _, targets = batch
    after = model(inputs.flatten(0, 1))[0]
    use_adapter(model, None)
    before = model(inputs.flatten(0, 1))[0]
    moved = dpo.divergence(after, before, targets.flatten(0, 1))
    assert moved > 0 and dpo.divergence(before, before, targets.flatten(0, 1)) == 0


def test_divergence_equals_torchs():
    logits, other = torch.randn(2, 2, 3, 5, generator=torch.Generator().manual_seed(0))
    targets = torch.tensor([[1, -1, 2], [0, 3, -1]])
    theirs = torch.distributions.kl_divergence(
        torch.distributions.Categorical(logits=logits),
        torch.distributions.Categorical(logits=other),
    )[targets >= 0].mean()
    assert dpo.divergence(logits, other, targets).item() == pytest.approx(theirs.item(), rel=1e-5)


def test_a_text_scores_its_counted_tokens_alone(model, tokenizer):
    (pair,) = preferences.pairs("place", 1)
    better, _ = dpo.pair_tokens(tokenizer, pair)
    inputs, targets = masked_batch([better], 0)
    logits = model(inputs)[0]
    counted = int((targets >= 0).sum())
    assert counted == len(tokenizer.encode(" " + pair.better)) + 1
    mean = model.loss(logits, targets)
    assert dpo.text_log_probs(logits, targets).item() == pytest.approx(
        -mean.item() * counted, rel=1e-5
    )


@pytest.mark.parametrize("beta", [0, -1, math.inf, math.nan])
def test_a_beta_that_is_no_positive_number_is_refused(beta):
    with pytest.raises(ValueError, match="beta must be a number above 0"):
        dpo.dpo_steps(*torch.zeros(4, 1), beta)


def test_the_reference_is_the_model_without_dropout(tokenizer):
    model = small_gpt(tokenizer, n_layer=1, dropout=0.5).train()
    pairs = preferences.pairs("place", 4)
    data = dpo.prepare_pairs(model, tokenizer, pairs[:3], pairs[3:])
    expected = dpo.prepare_pairs(model.eval(), tokenizer, pairs[:3], pairs[3:])
    assert torch.equal(data.reference, expected.reference)
    assert torch.equal(data.held_out_reference, expected.held_out_reference)


def test_a_pair_that_just_fits_is_kept(model, tokenizer):
    pairs = preferences.pairs("place", 6)
    sizes = [max(map(len, dpo.pair_tokens(tokenizer, pair))) for pair in pairs]
    for longest in sorted(sizes):
        model.config = dataclasses.replace(model.config, context_length=longest - 1)
        data = dpo.prepare_pairs(model, tokenizer, pairs, pairs)
        assert len(data.rows) == len(data.held_out) == sum(size <= longest for size in sizes)


def test_pairs_must_fit_the_context(model, tokenizer):
    model.config = dataclasses.replace(model.config, context_length=8)
    pairs = preferences.pairs("place", 2)
    with pytest.raises(ValueError, match="no pair fits into a context of 8"):
        dpo.prepare_pairs(model, tokenizer, pairs, pairs)
