"""Learning from rewards: gradients by finite differences, losses by others' published formulas."""

import copy
import itertools
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from llmviz.finetuning import policy
from llmviz.finetuning.pass_at_k import pass_at_k
from llmviz.finetuning.policy import METHODS, Method, Written, advantages, policy_steps
from llmviz.finetuning.rewarded import RewardConfig, learn_from_rewards
from llmviz.finetuning.rollouts import sample_groups
from llmviz.models import GPT, GPTConfig


def some(seed: int, texts: int = 6, tokens: int = 5) -> tuple[Tensor, ...]:
    """ln p now, when written, of the base; advantages; what was written: at least one token."""
    chance = torch.Generator().manual_seed(seed)

    def logs(spread: float, around: Tensor | float = -2.0) -> Tensor:
        noise = torch.randn(texts, tokens, generator=chance, dtype=torch.float64)
        return spread * noise + around

    old = logs(0.5)
    counts = torch.randint(1, tokens + 1, (texts, 1), generator=chance)
    written = torch.arange(tokens) < counts
    gained = torch.randn(texts, generator=chance, dtype=torch.float64)
    return logs(0.3, old), old, logs(0.4, old), gained, written


@given(st.integers(0, 2**16), st.floats(0, 1))
def test_the_losses_are_those_of_the_published_formulas(seed, beta):
    now, old, base, gained, written = some(seed)
    texts = len(now)
    grpo = ppo = reinforce = 0.0
    count = int(written.sum())
    for i in range(texts):
        a, length, own = float(gained[i]), int(written[i].sum()), 0.0
        for t in range(length):
            r = math.exp(float(now[i, t]) - float(old[i, t]))
            bounded = min(max(r, 0.8), 1.2)
            d = float(base[i, t]) - float(now[i, t])
            # TRL's GRPOTrainer: -min(r A, clip(r) A) + beta (exp(d) - d - 1), mean in each text
            own += -min(r * a, bounded * a) + beta * (math.exp(d) - d - 1)
            # TRL's PPOTrainer: the mean over all tokens of max(-A r, -A clip(r))
            ppo += max(-a * r, -a * bounded) / count
            reinforce += -a * r / texts
        grpo += own / length / texts
    found = policy_steps(now, old, base, gained, written, METHODS["grpo"], beta)
    assert float(found.loss) == pytest.approx(grpo, abs=1e-12)
    assert float((found.penalty < 0).sum()) == 0
    found = policy_steps(now, old, base, gained, written, METHODS["ppo"])
    assert float(found.loss) == pytest.approx(ppo, abs=1e-12)
    found = policy_steps(now, old, base, gained, written, METHODS["reinforce"])
    assert float(found.loss) == pytest.approx(reinforce, abs=1e-12)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_gradients_are_those_of_finite_differences(name, beta):
    now, old, base, gained, written = some(7)

    def loss(x: Tensor) -> Tensor:
        return policy_steps(x, old, base, gained, written, METHODS[name], beta).loss

    assert torch.autograd.gradcheck(loss, now.requires_grad_())


def test_the_first_pass_has_the_gradient_of_the_weighted_log_probability():
    _, old, base, gained, written = some(3)
    for method in (Method("plain", "text"), Method("plain", "text", 0.2, 3)):
        now = old.clone().requires_grad_()
        policy_steps(now, old, base, gained, written, method).loss.backward()
        plain = old.clone().requires_grad_()
        (-(gained[:, None] * plain * written).sum(1).mean()).backward()
        torch.testing.assert_close(now.grad, plain.grad)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3))
def test_advantages_compare_within_a_group(rewards):
    given = torch.tensor(rewards, dtype=torch.float64)
    others, group = (advantages(given, kind) for kind in ("others", "group"))
    for row, (paid, apart, units) in enumerate(zip(rewards, others, group, strict=True)):
        mean = sum(paid) / 4
        deviation = (sum((one - mean) ** 2 for one in paid) / 3) ** 0.5
        for at in range(4):
            rest = [one for place, one in enumerate(paid) if place != at]
            assert apart[at] == pytest.approx(paid[at] - sum(rest) / 3, abs=1e-12)
            assert units[at] == pytest.approx((paid[at] - mean) / (deviation + 1e-4), abs=1e-9)
        assert (len(set(paid)) == 1) == (not group[row].any())


@given(st.floats(-1e6, 1e6, width=32), st.integers(2, 9))
def test_equal_rewards_give_no_advantage_and_no_nan(reward, count):
    paid = torch.full((2, count), reward)
    for kind in ("others", "group"):
        assert advantages(paid, kind).tolist() == [[0.0] * count] * 2


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="group of one"):
        advantages(torch.zeros(3, 1), "group")
    assert advantages(torch.ones(3, 1), "plain").tolist() == [[1.0]] * 3
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            advantages(torch.tensor([[wrong, 0.0]]), "others")
    with pytest.raises(ValueError, match="plain, others, group"):
        advantages(torch.zeros(2, 2), "median")
    for name, how in METHODS.items():
        if how.compares:
            with pytest.raises(ValueError, match="group of 2"):
                RewardConfig(method=name, group=1)
    assert RewardConfig(method="reinforce", group=1).group == 1


@given(st.integers(1, 7), st.data())
def test_pass_at_k_is_the_share_of_all_choices_that_hold_a_right_one(samples, data):
    right = data.draw(st.integers(0, samples))
    k = data.draw(st.integers(1, samples))
    every = list(itertools.combinations([True] * right + [False] * (samples - right), k))
    share = sum(map(any, every)) / len(every)
    assert pass_at_k(samples, right, k) == pytest.approx(share, abs=1e-12)
    for wrong in ((samples, right, 0), (samples, right, samples + 1), (samples, samples + 1, k)):
        with pytest.raises(ValueError, match="k"):
            pass_at_k(*wrong)


class Bandit(nn.Module):
    """Logits that do not depend on the text: a policy whose gradient is known."""

    def __init__(self, logits: Tensor):
        super().__init__()
        self.logits = nn.Parameter(logits)

    def forward(self, idx: Tensor) -> tuple[Tensor, None]:
        return self.logits.expand(*idx.shape, -1), None


def test_the_loss_of_many_draws_comes_to_the_gradient_of_the_mean_reward():
    paid = torch.tensor([0.5, 1.0, 0.2], dtype=torch.float64)
    model = Bandit(torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64))
    chances = model.logits.detach().softmax(-1)
    # Each arm as often as its probability says, by weights: nothing is drawn.
    written = Written.of([[0]] * 3, [[0], [1], [2]], 0)
    log_p = written.chosen(model(written.inputs)[0].log_softmax(-1))
    weights = 3 * chances * paid
    steps = policy_steps(log_p, log_p.detach(), log_p, weights, written.mask, METHODS["reinforce"])
    steps.loss.backward()
    expected = chances * (paid - chances @ paid)
    torch.testing.assert_close(model.logits.grad, -expected)


def small() -> GPT:
    torch.manual_seed(0)
    return GPT(GPTConfig(vocab_size=6, context_length=12, n_layer=1, n_head=2, n_embd=16))


def test_samples_are_those_of_their_seed_and_end_behind_the_end():
    model, prompts = small().eval(), [[1, 2], [3, 4, 1]]
    first = sample_groups(model, prompts, 5, 6, 0, 3)
    assert first == sample_groups(model, prompts, 5, 6, 0, 3)
    assert first != sample_groups(model, prompts, 5, 6, 0, 4)
    for group in first:
        assert len(group) == 5
        for text in group:
            assert 1 <= len(text) <= 6
            assert 0 not in text[:-1]
            assert len(text) == 6 or text[-1] == 0


@pytest.mark.parametrize("name", METHODS)
def test_a_model_learns_to_write_what_is_rewarded(name):
    def reward(_: object, text: object) -> float:
        return sum(token == 5 for token in text) / 6

    config = RewardConfig(method=name, updates=40, prompts=4, group=8, rate=3e-3, longest=6, seed=1)
    found = list(learn_from_rewards(small(), lambda *_: [[1, 2]] * 4, reward, 0, config))
    assert found[0].divergence == pytest.approx(0, abs=1e-6)
    assert found[0].entropy <= math.log(6)
    first, last = (sum(one.reward for one in part) / 8 for part in (found[:8], found[-8:]))
    assert last > first + 0.2
    assert all(math.isfinite(one.gradient) for one in found)


@pytest.mark.parametrize("name", [name for name, how in METHODS.items() if how.compares])
def test_a_reward_that_is_always_the_same_moves_no_weight(name):
    model = small()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    config = RewardConfig(method=name, updates=2, prompts=2, group=3, longest=4)
    found = list(learn_from_rewards(model, lambda *_: [[1], [2]], lambda *_: 0.1, 0, config))
    assert [(one.flat, one.gradient) for one in found] == [(1.0, 0.0)] * 2
    for key, value in model.state_dict().items():
        torch.testing.assert_close(value, before[key], rtol=0, atol=0)


def test_a_reward_that_is_no_number_is_refused():
    config = RewardConfig(updates=1, prompts=1, group=2, longest=2)
    run = learn_from_rewards(small(), lambda *_: [[1]], lambda *_: float("nan"), 0, config)
    with pytest.raises(ValueError, match="finite"):
        next(run)


def test_no_two_samples_of_a_run_have_the_same_seed():
    config = RewardConfig(updates=30, prompts=3, group=4, seed=7)
    places = itertools.product(range(1, 31), range(3), range(4))
    seeds = [config.seed_of(step) + prompt * 4 + sample for step, prompt, sample in places]
    assert len(set(seeds)) == 30 * 3 * 4
    # A sample's seed is that of its group and its place there, whoever else is sampled.
    model = small().eval()
    (alone,) = sample_groups(model, [[1, 2]], 6, 6, 0, 3)
    together = sample_groups(model, [[1, 2], [1, 2]], 3, 6, 0, 3)
    assert [*together[0], *together[1]] == alone and alone[:3] != alone[3:]


@pytest.mark.parametrize("name", METHODS)
def test_the_gradient_that_is_told_is_that_of_the_first_pass(name):
    model, how = small(), METHODS[name]
    untouched = copy.deepcopy(model)
    config = RewardConfig(method=name, updates=1, prompts=1, group=6, rate=0.05, longest=6)
    (found,) = learn_from_rewards(
        model, lambda *_: [[1, 2]], lambda _, text: text.count(5) / 3, 0, config
    )
    prompt, samples = found.first
    terms = []
    for text, _, gained in samples:
        ids = torch.tensor([[*prompt, *text]])
        log_p = untouched(ids[:, :-1])[0].log_softmax(-1)[0, len(prompt) - 1 :]
        chosen = log_p.gather(1, ids[0, len(prompt) :, None])[:, 0]
        terms.append(-gained * (chosen - chosen.detach()).exp())  # the ratio is 1 there
    each = torch.stack([term.sum() for term in terms])
    lengths = torch.tensor([len(term) for term in terms])
    {
        policy.TEXT: each.mean(),
        policy.TOKENS: each.sum() / lengths.sum(),
        policy.EACH: (each / lengths).mean(),
    }[how.average].backward()
    grads = [one.grad for one in untouched.parameters() if one.grad is not None]
    own = torch.stack([grad.norm() for grad in grads]).norm()
    assert found.gradient == pytest.approx(float(own), rel=1e-4) and found.gradient > 0


def test_the_averages_differ_by_what_a_long_text_weighs():
    terms = torch.tensor([[1.0, 1.0, 1.0, 1.0], [4.0, 0.0, 0.0, 0.0]])
    written = torch.tensor([[True] * 4, [True, False, False, False]])
    found = {one: float(policy.averaged(terms, written, one)) for one in policy.AVERAGES}
    assert found == pytest.approx({"text": 4.0, "tokens": 8 / 5, "each": 2.5})
