"""Models that read facts: what is said of their answers, and that the bundled ones come again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.facts import card
from llmviz.corpus.invented import COUNTS, TOWNS, Person
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
from llmviz.paths import EXPERIMENT_FOLDER
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
    progress = list(read_world(Reading(0, passes=2), own))
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
