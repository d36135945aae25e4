"""Filling in masks: exact with one token a step, and how far off with fewer steps."""

from collections import Counter

import numpy as np
import pytest
import torch
from scipy import stats

from llmviz.files.paths import BUNDLED_CHECKPOINTS
from llmviz.models.masked_diffusion import true_conditionals
from llmviz.models.word_order import total_variation
from llmviz.sampling.unmasking import ORDERS, reveal_counts, unmask, unmasking_distribution
from llmviz.training.run_folder import load_trained
from tests.models.test_masked_diffusion import T, V, random_joint, seeded


def distances(joint, order):
    """Total variation from the joint with 1 to T steps."""
    predict, tokens = true_conditionals(joint), joint.dim()
    found = [
        unmasking_distribution(predict, tokens, steps, len(joint), order).ravel()
        for steps in range(1, tokens + 1)
    ]
    assert np.sum(found, axis=1) == pytest.approx(1, abs=1e-12)
    return [float(total_variation(probabilities, joint.numpy().ravel())) for probabilities in found]


# ---- the exact distribution


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_more_steps_come_closer_to_a_joint_and_one_token_a_step_reaches_it(order, seed):
    """Of three tokens; with more it need not be so: see below."""
    one_step, two_steps, each_alone = distances(random_joint(seed), order)
    assert one_step > two_steps > 0.01
    assert each_alone < 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_one_step_gives_the_product_of_the_marginals(order):
    joint = random_joint()
    found = unmasking_distribution(true_conditionals(joint), T, 1, V, order)
    marginals = joint.sum((1, 2)), joint.sum((0, 2)), joint.sum((0, 1))
    expected = torch.einsum("a,b,c->abc", *marginals)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_two_words_that_depend_on_each_other_break_when_filled_at_once():
    """Two words that always agree: half of the texts of one step never occur in the joint."""
    joint = torch.eye(2) / 2
    assert distances(joint, "random") == pytest.approx([0.5, 0], abs=1e-12)


def test_independent_words_can_all_be_filled_at_once():
    p = random_joint(tokens=1)
    joint = torch.einsum("a,b,c->abc", p, p, p)
    assert distances(joint, "random") == pytest.approx([0, 0, 0], abs=1e-12)


def test_more_steps_can_be_worse_when_confident_words_come_first():
    """Words 3, 4 and 5 agree. In 2 steps word 3 comes before 4 and 5; in 3 steps with word 4."""
    joint = torch.zeros((2,) * 5, dtype=torch.float64)
    for a, b, c in np.ndindex(2, 2, 2):
        joint[a, b, c, c, c] = (0.1, 0.9)[a] * (0.2, 0.8)[b] * 0.5
    _, two, three, *_ = distances(joint, "confident")
    assert two < 1e-12 and three == pytest.approx(0.5)


@pytest.mark.parametrize("order", ORDERS)
def test_text_that_cannot_occur_is_gone_on_from(order):
    """Three words that always agree: after two that do not, the third is drawn evenly."""
    joint = torch.zeros(2, 2, 2)
    joint[0, 0, 0] = joint[1, 1, 1] = 0.5
    found = unmasking_distribution(true_conditionals(joint), 3, 2, 2, order)
    assert found[0, 0, 0] == pytest.approx(0.25) and found.sum() == pytest.approx(1)


# ---- the sampler


@pytest.mark.parametrize(
    ("order", "steps"), [("random", 1), ("random", 2), ("confident", 2), ("random", 3)]
)
def test_texts_are_as_frequent_as_the_exact_distribution_says(order, steps):
    predict, runs, generator = true_conditionals(random_joint(spread=1.0)), 400, seeded(steps)
    expected = runs * unmasking_distribution(predict, T, steps, V, order)
    seen = np.zeros_like(expected)
    for _ in range(runs):
        *_, last = unmask(predict, [V] * T, steps, V, order, generator)
        seen[last.ids] += 1
    rare = expected <= max(5, expected.min())
    groups = [(seen[~rare], expected[~rare]), (seen[rare].sum(), expected[rare].sum())]
    counted, wanted = (np.append(*(group[i] for group in groups)) for i in (0, 1))
    assert stats.chisquare(counted, wanted).pvalue > 0.001


@pytest.mark.parametrize("order", ORDERS)
def test_the_film_reveals_each_masked_position_once_and_keeps_what_is_given(order):
    predict, ids = true_conditionals(random_joint(tokens=5, vocabulary=2)), [2, 1, 2, 2, 2]
    film = list(unmask(predict, ids, 3, 2, order, seeded()))
    assert [len(step.positions) for step in film] == [2, 1, 1]
    assert sorted(position for step in film for position in step.positions) == [0, 2, 3, 4]
    for step in film:
        assert list(step.positions) == sorted(step.positions)
        p = predict(torch.tensor([ids]))[0].softmax(-1)
        for position, token, chance in zip(*step[:3], strict=True):
            assert chance == pytest.approx(p[position, token].item())
            ids[position] = token
        assert list(step.ids) == ids
    again = list(unmask(predict, [2, 1, 2, 2, 2], 3, 2, order, seeded()))
    assert again == film


def test_the_most_confident_position_comes_first_and_equal_ones_from_the_left():
    logits = torch.log(torch.tensor([[0.5, 0.5], [0.1, 0.9], [0.5, 0.5], [0.8, 0.2]]))
    film = unmask(lambda ids: logits[None], [2] * 4, 4, 2, "confident", seeded())
    assert [step.positions for step in film] == [(1,), (3,), (0,), (2,)]


def test_random_positions_come_first_equally_often():
    predict = true_conditionals(random_joint())
    generator = seeded()
    first = Counter(
        next(unmask(predict, [V] * T, 3, V, "random", generator)).positions[0] for _ in range(300)
    )
    assert stats.chisquare([first[position] for position in range(T)]).pvalue > 0.001


@pytest.mark.parametrize("order", ORDERS)
def test_a_bundled_masked_word_model_writes_text(order):
    model = load_trained(BUNDLED_CHECKPOINTS / "masked-words").model
    mask_id = model.config.mask_id
    *_, last = unmask(lambda ids: model(ids)[0], [mask_id] * 8, 3, mask_id, order, seeded())
    assert max(last.ids) < mask_id


# ---- edges


def test_steps_share_the_positions_evenly():
    for masked in range(1, 9):
        for steps in range(1, masked + 1):
            counts = reveal_counts(masked, steps)
            assert sum(counts) == masked and len(counts) == steps
            assert counts == sorted(counts, reverse=True) and counts[0] - counts[-1] <= 1


@pytest.mark.parametrize("order", ORDERS)
def test_one_token_is_drawn_from_its_distribution(order):
    joint = torch.tensor([0.2, 0.5, 0.3])
    found = unmasking_distribution(true_conditionals(joint), 1, 1, 3, order)
    np.testing.assert_allclose(found, joint, atol=1e-7)


@pytest.mark.parametrize(
    ("ids", "steps", "order", "message"),
    [
        ([V, V], 0, "random", "steps must be from 1 to 2, the masked positions; got 0"),
        ([V, 1, V], 3, "random", "steps must be from 1 to 2, the masked positions; got 3"),
        ([0, 1], 1, "random", "there is no masked position to fill"),
        ([], 1, "random", "there is no masked position to fill"),
        ([V], 1, "left", "order must be one of random, confident; got 'left'"),
    ],
)
def test_what_is_refused_before_the_first_step(ids, steps, order, message):
    with pytest.raises(ValueError, match=message):
        unmask(true_conditionals(random_joint()), ids, steps, V, order)


def test_too_many_texts_to_follow_are_refused():
    with pytest.raises(ValueError, match="more partly masked texts than the 20,000"):
        unmasking_distribution(lambda ids: ids, 10, 2, 3)
