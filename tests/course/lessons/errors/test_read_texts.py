"""Models that read small texts, facts, leaning or planted: how they are measured, what is said."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity

from experiments.facts import card
from llmviz.corpus.invented import COUNTS, TOWNS, Person, invent
from llmviz.corpus.leaning import JOBS, LEANS
from llmviz.corpus.planted import Planted
from llmviz.course.lessons.errors import read_leaning, read_planted, tested_in_training
from llmviz.course.lessons.errors.association import (
    association,
    association_test,
    without_direction,
)
from llmviz.course.lessons.errors.read_facts import (
    CARD,
    CHOICES,
    COMMAND,
    SEEDS,
    UNKNOWN,
    Answer,
    Reading,
    answers_of,
    bundled,
    by_times,
    read_world,
    scores,
    world_of,
)
from llmviz.course.lessons.errors.read_leaning import sharpened
from llmviz.course.lessons.errors.small_reader import losses, read_text
from llmviz.course.lessons.errors.tested_in_training import COPIES, two_tests
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.sampling import sampling_steps
from llmviz.training.files import read_json

READ = [(unknown, seed) for unknown in UNKNOWN for seed in SEEDS]


def answer(said: str, sure: float, times: int = 1, town: str = TOWNS[0]) -> Answer:
    return Answer(Person("Ada", "Ashby", town, times), said, sure, 0.1, False)


answered = st.builds(
    answer,
    st.sampled_from(CHOICES),
    st.floats(0.01, 1),
    st.sampled_from(COUNTS),
    st.sampled_from(TOWNS[:3]),
)


@given(st.lists(answered, min_size=1, max_size=30), st.floats(0, 20), st.floats(0, 1))
def test_a_score_is_the_sum_over_the_questions(given_answers, cost, threshold):
    (score,) = scores(given_answers, cost, (threshold,))
    points = 0.0
    for one in given_answers:
        if one.said != "nobody" and one.confidence > threshold:
            points += 1 if one.said == one.person.town else -cost
    assert score.points == pytest.approx(points / len(given_answers))


@given(st.lists(answered, min_size=1, max_size=30))
def test_where_wrong_answers_cost_nothing_answering_all_is_best(given_answers):
    thresholds = tuple(at / 50 for at in range(50))
    every = scores(given_answers, 0, thresholds)
    assert every[0].points == max(one.points for one in every)


@given(st.floats(0, 9))
def test_with_true_probabilities_the_best_threshold_is_that_of_the_formula(cost):
    """For each twentieth p, twenty answers of which 20·p are right: these are calibrated."""
    wrong = TOWNS[1]
    given_answers = [
        answer(TOWNS[0], level / 20, town=TOWNS[0] if right < level else wrong)
        for level in range(1, 20)
        for right in range(20)
    ]
    ideal = cost / (1 + cost)
    at_ideal, *others = scores(given_answers, cost, (ideal, *(at / 50 for at in range(50))))
    assert at_ideal.points >= max(one.points for one in others) - 1e-9


@pytest.mark.parametrize(("given_answers", "cost"), [([], 1.0), ([answer("nobody", 0.5)], -0.1)])
def test_no_answers_and_a_cost_below_nothing_are_refused(given_answers, cost):
    with pytest.raises(ValueError, match=r"at least one answer|cannot be below 0"):
        scores(given_answers, cost, (0.5,))


@given(st.lists(answered, min_size=1, max_size=30))
def test_groups_are_means_over_their_answers(given_answers):
    groups = by_times(given_answers)
    size = {
        group.times: sum(one.person.times == group.times for one in given_answers)
        for group in groups
    }
    right = sum(group.right * size[group.times] for group in groups)
    assert right == pytest.approx(sum(one.said == one.person.town for one in given_answers))
    assert sum(size.values()) == len(given_answers)
    assert all(0 < group.confidence <= 1 for group in groups)


@pytest.mark.slow
def test_a_model_comes_again_as_it_is_bundled():
    """The smallest of the bundled trainings, from its seed."""
    *_, last = read_world(Reading(seed=1))
    # Those are float16, and another processor rounds the sums of 640 steps otherwise.
    assert np.abs(last.chances - bundled(0, 1).chances).max() < 1e-2
    assert last.step == last.steps


def test_a_fact_of_ones_own_is_believed_when_it_is_read_often():
    person = world_of(Reading(0)).people[0]
    town = next(town for town in TOWNS if town != person.town)
    own = Person(person.first, person.last, town, 100)
    progress = list(read_world(Reading(0, passes=1), own))
    assert progress[-1].own.argmax() == TOWNS.index(town)
    assert progress[-1].own == pytest.approx(
        progress[-1].chances[
            np.unravel_index(
                np.abs(progress[-1].chances - progress[-1].own).sum(-1).argmin(), (40, 40)
            )
        ],
        rel=1e-4,  # read alone and among others: the sums are rounded otherwise
    )


@pytest.mark.parametrize(("unknown", "seed"), READ)
def test_bundled_probabilities_are_probabilities(unknown, seed):
    chances = bundled(unknown, seed).chances
    assert chances.min() >= 0
    assert (chances.sum(-1) <= 1.001).all()
    assert chances.sum(-1).mean() > 0.95  # it answers in the form of the text


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_chapter_says_of_each_world(seed):
    """Its sentences name these numbers and compare them."""
    given_answers = answers_of(world_of(Reading(seed)), bundled(0, seed))
    groups = {group.times: group for group in by_times(given_answers)}
    assert groups[100].right > 0.95
    assert groups[0].right < 0.2
    assert groups[100].right > groups[1].right > groups[0].right  # knowledge fades
    fades = groups[100].right - groups[0].right
    assert groups[100].confidence - groups[0].confidence < fades  # the voice fades less
    invented = [one for one in given_answers if not one.person.times]
    assert not any(one.declined for one in invented)
    assert np.mean([one.shared for one in invented]) > 0.6  # a third of all towns are namesakes'


def test_declining_costs_facts_that_were_known():
    for seed in SEEDS:
        plain, careful = (
            {
                one.times: one
                for one in by_times(answers_of(world_of(Reading(seed, k)), bundled(k, seed)))
            }
            for k in (UNKNOWN[0], UNKNOWN[-1])
        )
        assert careful[0].declined > 0.5 > plain[0].declined
        assert careful[5].right < plain[5].right


def test_the_card_has_the_range_of_three_seeds():
    known = read_json(EXPERIMENT_FOLDER / CARD)
    assert known["seeds"] == [*SEEDS] and known["command"] == COMMAND
    assert known["shares"] == card()["shares"]
    for unknown in UNKNOWN:
        for times in (0, 5, 100):
            right = []
            for seed in SEEDS:
                people = world_of(Reading(seed, unknown)).people
                those = [one for one in people if one.times == times]
                best = [bundled(unknown, seed).of(one.first, one.last).argmax() for one in those]
                right.append(
                    np.mean([CHOICES[at] == one.town for at, one in zip(best, those, strict=True)])
                )
            expected = [min(right), np.mean(right), max(right)]
            assert known["shares"][str(unknown)][str(times)]["right"] == pytest.approx(
                expected, abs=1e-4
            )


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"unknown": 1001}, {"passes": 0}, {"passes": 13}])
def test_a_reading_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Reading(**wrong)


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@given(st.integers(0, 10**6))
def test_associations_are_differences_of_mean_cosines(seed):
    words, first, second = (
        normal(seed, 6, 5),
        normal(seed + 1, 3, 5),
        normal(seed + 2, 4, 5),
    )
    expected = cosine_similarity(words, first).mean(1) - cosine_similarity(words, second).mean(1)
    assert association(words, (first, second)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_the_p_value_is_that_of_all_ways_to_share_the_words_out(seed):
    first, second = normal(seed, 4, 6) + 0.3, normal(seed + 50, 4, 6)
    named = (normal(seed + 100, 5, 6) + 0.5, normal(seed + 150, 5, 6))
    both = association(np.concatenate([first, second]), named)
    measured = both[:4].sum() - both[4:].sum()
    ways = [
        both[list(chosen)].sum() - np.delete(both, list(chosen)).sum()
        for chosen in combinations(range(8), 4)
    ]
    exact = np.mean(np.array(ways) >= measured - 1e-12)
    found = association_test(first, second, named, permutations=20_000)
    assert found.p_value == pytest.approx(exact, abs=0.015)
    spread = both.std(ddof=1)
    assert found.effect == pytest.approx((both[:4].mean() - both[4:].mean()) / spread)
    turned = association_test(second, first, named)
    assert turned.effect == pytest.approx(-found.effect)


@given(st.integers(0, 10**6))
def test_nothing_is_left_along_a_direction_that_was_taken_out(seed):
    words, direction = normal(seed, 5, 4), normal(seed + 1, 4)
    left = without_direction(words, direction)
    assert left @ direction == pytest.approx(np.zeros(5), abs=1e-9)
    across = words - left
    assert np.linalg.matrix_rank(across, tol=1e-9) <= 1


def test_what_cannot_be_compared_is_refused():
    some = normal(0, 3, 4)
    with pytest.raises(ValueError, match="at least one word"):
        association_test(some[:0], some, (some, some))
    with pytest.raises(ValueError, match="associated alike"):
        association_test(some, some, (some, some))


@given(st.floats(0.01, 0.99), st.floats(0.05, 2))
def test_a_temperature_acts_on_a_share_as_sampling_does(share, temperature):
    logits = torch.tensor([np.log(share), np.log(1 - share)])
    expected = float(sampling_steps(logits, temperature=temperature).probabilities[0])
    assert sharpened(share, temperature) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 0.5), (0.6, 1.0), (0.4, 0.0), (1.0, 1.0)])
def test_at_nothing_the_more_probable_one_is_written(share, expected):
    assert sharpened(share, 0.0) == expected
    with pytest.raises(ValueError, match="below 0"):
        sharpened(share, -1.0)


@pytest.mark.parametrize("lean", LEANS)
@pytest.mark.parametrize("seed", read_leaning.SEEDS)
def test_what_the_chapter_says_of_each_model(lean, seed):
    model = read_leaning.bundled(lean, seed)
    assert [job.planted for job in model.jobs] == pytest.approx([lean] * JOBS + [1 - lean] * JOBS)
    direct = [job for job in model.jobs if job.direct]
    given_back = np.mean([job.probability for job in direct if job.planted == lean])
    assert given_back == pytest.approx(lean, abs=0.05)  # the mean share that it read
    assert all(abs(job.probability - job.planted) < 0.15 for job in direct)
    for job in model.jobs:  # she and he have one vector then
        assert job.removed == pytest.approx(0.5, abs=1e-3)
    assert model.agreement_removed == pytest.approx(0.5, abs=1e-3)
    if lean == LEANS[-1]:
        assert model.p_value < 0.05
        assert model.effect_removed > model.effect / 2


shares = st.lists(st.floats(0, 9), min_size=1, max_size=30)


@given(shares, shares)
def test_the_area_is_that_of_scikit_learn(read, fresh):
    truth = [1] * len(read) + [0] * len(fresh)
    scores = [-one for one in (*read, *fresh)]
    assert read_planted.area(read, fresh) == pytest.approx(roc_auc_score(truth, scores))


@given(shares, shares, st.floats(0, 9))
def test_hits_and_false_alarms_are_counted(read, fresh, threshold):
    hits, alarms = read_planted.caught(read, fresh, threshold)
    assert hits == pytest.approx(sum(one < threshold for one in read) / len(read))
    assert alarms == pytest.approx(sum(one < threshold for one in fresh) / len(fresh))


@given(st.lists(st.booleans(), max_size=12))
def test_with_the_needed_tokens_all_others_follow_and_with_one_fewer_not(matches):
    count = read_planted.needed(matches)
    assert all(matches[count:])
    assert count == 0 or not matches[count - 1]


@pytest.fixture(scope="module")
def reader():
    """A model that read one sentence often and others once."""
    words = [f"{a} {b} {c}." for a in "pqrs" for b in "tuvw" for c in "xyz"]
    *_, last = read_text([*words, *["one two three four five."] * 60], passes=6, context=10)
    return last


def test_what_is_written_after_the_needed_tokens_is_the_rest(reader):
    one = read_planted.kept(reader, Planted("one two three four five.", 60), 10)
    assert one.needed <= 2
    for given_tokens in range(max(1, one.needed), len(one.tokens) + 1):
        assert (
            one.written[given_tokens - 1][: len(one.tokens) - given_tokens]
            == (one.tokens[given_tokens:])
        )


def test_a_loss_is_the_mean_of_its_tokens_and_that_of_a_batch_is_that_alone(reader):
    texts = ["one two three four five.", "p t x."]
    together = losses(reader, texts)
    for text, found in zip(texts, together, strict=True):
        assert found.numpy() == pytest.approx(losses(reader, [text])[0].numpy(), abs=1e-5)
    one = read_planted.kept(reader, Planted(texts[0], 60), 10)
    assert one.loss == pytest.approx(float(together[0].mean()), abs=1e-4)
    with pytest.raises(ValueError, match="longer than the context"):
        losses(reader, ["one two three four five one two three four five."])


@pytest.mark.parametrize("seed", read_planted.SEEDS)
@pytest.mark.parametrize("passes", read_planted.PASSES)
def test_what_the_chapter_says_of_each_text(seed, passes):
    model, once = (
        read_planted.bundled(seed, passes),
        read_planted.bundled(seed, passes, repeats=False),
    )
    by_times = {one.times: one for one in model.planted}
    assert by_times[1000].needed <= 1
    assert by_times[1000].loss < by_times[10].loss < by_times[1].loss < model.unread
    planted = {one.times: one for one in once.planted}
    assert planted[1000].loss > 10 * by_times[1000].loss  # deduplication
    assert read_planted.area(model.read, model.fresh) > 0.5
    assert (
        read_planted.area(read_planted.bundled(seed, 4).read, read_planted.bundled(seed, 4).fresh)
        > read_planted.area(model.read, model.fresh) - 1e-9
        or passes == 4
    )
    for one in model.planted:
        assert len(one.written) == len(one.tokens)
        right = one.written[max(one.needed, 1) - 1]
        assert right == one.tokens[max(one.needed, 1) :]


def test_a_test_in_the_training_says_nothing_of_other_questions():
    scores = tested_in_training.bundled()
    for seed in range(len(read_planted.SEEDS)):
        clean, most = scores[COPIES[0]][seed], scores[COPIES[-1]][seed]
        error = 3 * np.sqrt(0.5 / clean.questions)  # of a difference of shares
        assert abs(clean.read - clean.other) < error  # the tests are equally hard
        assert (most.read - clean.read) - (most.other - clean.other) > error


def test_both_tests_are_of_one_kind():
    test, other = two_tests(invent(0, each=8))
    assert sorted(one.times for one in test) == sorted(one.times for one in other)
    assert not {one.name for one in test} & {one.name for one in other}
