"""Reward models: the loss of Bradley and Terry by other ways, and rewards read in three ways."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.corpus import is_story
from llmviz.finetuning.classifier import encode
from llmviz.finetuning.labeller import Labeller, clean_pairs, whole, words_of
from llmviz.finetuning.preferences import happier
from llmviz.finetuning.reward_model import (
    RATE,
    Endings,
    RewardTop,
    learn_preferences,
    lower_part,
    pair_steps,
    read_pairs,
    reward_gpt,
    rewards_of,
)
from tests.finetuning.conftest import small_gpt

REWARD = st.floats(-8, 8)
LONG = 12  # tokens of an ending here


@given(st.lists(st.tuples(REWARD, REWARD), min_size=1, max_size=6))
def test_loss_and_gradient_are_those_of_logsigmoid(pairs):
    one, other = torch.tensor(pairs, dtype=torch.float64).unbind(1)
    one.requires_grad_(), other.requires_grad_()
    steps = pair_steps(one, other)
    # As trl's RewardTrainer writes it: -logsigmoid(rewards_chosen - rewards_rejected).mean().
    theirs = -F.logsigmoid(one - other).mean()
    assert torch.allclose(steps.loss, theirs)
    assert torch.allclose(steps.nats.exp(), 1 + (other - one).exp())
    steps.loss.backward()
    for own, grad in zip((one, other), torch.autograd.grad(theirs, (one, other)), strict=True):
        assert torch.allclose(own.grad, grad)
    assert torch.allclose(other.grad, steps.pull / len(pairs))
    assert torch.allclose(steps.pull + steps.probability, torch.ones_like(one))


@given(REWARD, REWARD, REWARD)
def test_equal_rewards_cost_ln_2_and_only_differences_count(reward, other, same):
    tie = pair_steps(torch.tensor([reward]), torch.tensor([reward]))
    assert float(tie.loss) == pytest.approx(math.log(2))
    assert float(tie.pull) == float(tie.probability) == 0.5
    one, two = (torch.tensor([x], dtype=torch.float64) for x in (reward, other))
    assert torch.allclose(pair_steps(one + same, two + same).loss, pair_steps(one, two).loss)


def test_a_very_sure_and_wrong_pair_has_a_finite_loss():
    steps = pair_steps(torch.tensor([-500.0]), torch.tensor([500.0]))
    assert float(steps.loss) == 1000 and float(steps.pull) == 1


@pytest.fixture(scope="module")
def three(tokenizer):
    base = small_gpt(tokenizer)
    top = RewardTop(base, 3)
    torch.nn.init.normal_(top.head.weight, std=1.0)
    return lower_part(base), top, reward_gpt(base, top)


ENDINGS = (
    "In the end Ada was glad.",
    "",
    "a",
    "<b>bold</b> & [link](x)",
    "日本語 🙂 ünï",
    "word " * 200,
)


def test_a_reward_is_the_same_alone_in_a_batch_and_behind_a_story_that_was_read(three, tokenizer):
    lower, top, gpt = three
    story = "It was Monday, and Ada Thistley the cook felt glad."
    reader = Endings(gpt, tokenizer, story, LONG)
    found = reader.rewards(ENDINGS)
    for ending, reward, tokens in zip(ENDINGS, found, reader.token_rewards(ENDINGS), strict=True):
        ids = tokenizer.encode_from_start(story) + reader.tokens(ending)
        alone = gpt(torch.tensor([ids]))[0][0, :, 0]
        assert reward == pytest.approx(float(alone[-1]), abs=1e-4)
        assert torch.allclose(tokens, alone[-len(tokens) :], atol=1e-4)
        assert len(tokens) == 1 + len(reader.tokens(ending)) <= 1 + LONG
    short = [(whole(story, one), story) for one in ENDINGS[:2]]
    both = rewards_of(lower, top, read_pairs(lower, tokenizer, short)[0])
    assert both.tolist() == pytest.approx(found[:2], abs=2e-2)  # the lower part is kept in halves


@settings(max_examples=20)
@given(st.text(max_size=80), st.text(max_size=30))
def test_any_story_and_ending_has_a_reward(three, tokenizer, story, ending):
    if all(not 0xD800 <= ord(letter) < 0xE000 for letter in story + ending):
        (reward,) = Endings(three[2], tokenizer, story, LONG).rewards([ending])
        assert math.isfinite(reward)


def test_a_long_story_keeps_its_end(three, tokenizer):
    reader = Endings(three[2], tokenizer, "word " * 2000, LONG)
    assert len(reader.ids) == three[2].context_length - LONG
    assert math.isfinite(reader.rewards(["x " * 500])[0])


def test_what_is_preferred_is_learned_and_a_turned_label_turns_it_round(model, tokenizer):
    lower = lower_part(model)
    texts = [(f"{name} ran. So glad.", f"{name} ran. So sad.") for name in ("Ada", "Otto", "Mia")]
    both = read_pairs(lower, tokenizer, texts)
    for preferred in (True, False):
        top = learn_preferences(model, lower, both, [preferred] * 3, 30)
        apart = rewards_of(lower, top, both[0]) - rewards_of(lower, top, both[1])
        assert bool((apart > 0).all()) == preferred and bool((apart < 0).all()) != preferred
    again = learn_preferences(model, lower, both, [False] * 3, 30)
    assert torch.equal(again.head.weight, top.head.weight)
    for labels in ([True], []):
        with pytest.raises(ValueError, match="needs one label"):
            learn_preferences(model, lower, both, labels, 1)


@pytest.mark.parametrize("updates", [1, 2, 20])
def test_the_rate_falls_and_is_not_0_at_the_last_update(model, tokenizer, updates, monkeypatch):
    """A tenth of the updates it rises. What Adam's first step moves is as long as the rate."""
    rates = []
    step = torch.optim.AdamW.step

    def noted(self, *given):
        rates.append(self.param_groups[0]["lr"] / RATE)
        return step(self, *given)

    monkeypatch.setattr(torch.optim.AdamW, "step", noted)
    lower = lower_part(model)
    both = read_pairs(lower, tokenizer, [("a glad end", "a sad end")])
    top = learn_preferences(model, lower, both, [True], updates)
    assert rates == pytest.approx(
        {
            1: [1.0],
            2: [1.0, 0.5],
            20: [0.5, *[(21 - step) / 20 for step in range(2, 21)]],
        }[updates]
    )
    if updates == 1:
        moved = (top.head.weight - RewardTop(model).head.weight).detach().abs()
        assert moved.median().item() == pytest.approx(RATE, rel=0.05)


def test_only_the_last_block_the_norm_and_the_head_learn(model, tokenizer):
    before = {name: one.clone() for name, one in model.state_dict().items()}
    lower = lower_part(model)
    both = read_pairs(lower, tokenizer, [("a glad end", "a sad end")])
    top = learn_preferences(model, lower, both, [True], 3)
    assert all(torch.equal(before[name], one) for name, one in model.state_dict().items())
    learned = reward_gpt(model, top).state_dict()
    last = f"blocks.{model.config.n_layer - 1}."
    for name, one in learned.items():
        if not name.startswith((last, "norm_final", "head")):
            assert torch.equal(one, before[name]), name
    ids = encode(tokenizer, ["a glad end"], 64).idx
    assert reward_gpt(model, top)(ids)[0].shape == (*ids.shape, 1)


def test_pairs_are_grammatical_and_the_first_one_is_happier():
    pairs = clean_pairs(12, 3)
    assert pairs == clean_pairs(12, 3) and pairs != clean_pairs(12, 4)
    for pair in pairs:
        assert happier(pair.better, pair.story) > happier(pair.worse, pair.story)
        assert all(is_story(whole(pair.story, one)) for one in (pair.better, pair.worse))
    assert clean_pairs(0) == []
    with pytest.raises(ValueError, match="cannot be negative"):
        clean_pairs(-1)


def test_a_labeller_makes_the_mistakes_that_it_is_said_to_make():
    pairs = clean_pairs(60, 5) * 20
    longer = [words_of(one.better) >= words_of(one.worse) for one in pairs]
    assert all(Labeller().labels(pairs))
    assert Labeller(by_length=1).labels(pairs) == longer
    assert Labeller(wrong=1).labels(pairs) == [False] * len(pairs)
    share, wrong = 0.25, 0.1
    said = Labeller(share, wrong).labels(pairs)
    wanted = sum((1 - share) + share * one for one in longer) / len(pairs)
    wanted = wanted * (1 - wrong) + (1 - wanted) * wrong
    assert sum(said) / len(pairs) == pytest.approx(wanted, abs=4 * (0.25 / len(pairs)) ** 0.5)
    for broken in ({"by_length": 1.5}, {"wrong": -0.1}, {"wrong": float("nan")}):
        with pytest.raises(ValueError, match="a share must be from 0 to 1"):
            Labeller(**broken)
