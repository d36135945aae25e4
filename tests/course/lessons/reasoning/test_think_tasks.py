"""Two more tasks to think first on: their texts, solved in other ways, and the record."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments import think_tasks as make_think_tasks
from llmviz.course.lessons.reasoning.chain_of_thought import model as study
from llmviz.course.lessons.reasoning.chain_of_thought.model import BALL, SIGNS, SUMS, TASKS
from llmviz.course.lessons.reasoning.parity_texts import PATH, WAYS
from llmviz.nn.loss import IGNORED

ITEMS = st.lists(st.integers(0, 9), min_size=1, max_size=study.SLOTS)


@given(ITEMS)
def test_the_path_of_a_sum_is_the_sum_so_far(items):
    path = TASKS[SUMS].paths(np.array(items))
    assert [TASKS[SUMS].states[one] for one in path] == [
        str(sum(items[: at + 1])) for at in range(len(items))
    ]


@given(ITEMS)
def test_the_path_of_the_ball_is_who_holds_it_when_all_hands_are_followed(items):
    task, hands, held = TASKS[BALL], {one: one for one in study.PEOPLE}, []
    for item in items:
        one, other = task.items[item]
        hands[one], hands[other] = hands[other], hands[one]
        held += [who for who, thing in hands.items() if thing == study.PEOPLE[0]]
    assert [task.states[one] for one in task.paths(np.array(items))] == held
    assert task.said(items)[1] == " ".join(held)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("way", WAYS)
def test_only_what_stands_behind_the_equals_sign_is_learned(name, way):
    task = TASKS[name]
    inputs, targets = make_think_tasks.batch(task, np.random.default_rng(0), way)
    equals, colon = (SIGNS.index(one) for one in "=:")
    for read, learned in zip(inputs, targets, strict=True):
        places = (learned != IGNORED).nonzero()[0]
        assert read[study.SLOTS] == equals and places[0] == study.SLOTS
        said = [task.tokens[one] for one in learned[places]]
        items = [one - len(SIGNS) for one in read[: study.SLOTS] if one >= len(SIGNS)]
        path = [task.states[one] for one in task.paths(np.array(items))]
        dots = ["."] * len(items)
        between = {"direct": [], "dots": dots, "path": path}[way]
        assert said == [*between, ":", path[-1]]
        assert (read[places[1:]] == learned[places[:-1]]).all()
        assert 1 <= len(items) <= study.TRAINED and read[places[-1]] == colon


@pytest.mark.parametrize("name", TASKS)
def test_each_way_of_a_seed_reads_the_same_items(name):
    read = [make_think_tasks.batch(TASKS[name], np.random.default_rng(1), way)[0] for way in WAYS]
    assert all((one[:, : study.SLOTS] == read[0][:, : study.SLOTS]).all() for one in read)


class Knows(torch.nn.Module):
    """Writes the right path and the right answer."""

    def __init__(self, task, mistakes=0):
        super().__init__()
        self.task, self.mistakes = task, mistakes

    def forward(self, texts, last_only):
        places, first = len(SIGNS) + len(self.task.items), len(SIGNS)
        out = torch.zeros(len(texts), 1, len(self.task.tokens))
        for row, text in enumerate(texts.numpy()):
            items = [one - first for one in text[: study.SLOTS] if one >= first]
            at = len(text) - study.SLOTS - 1
            path = self.task.paths(np.array(items))
            state = path[-1] if text[-1] == SIGNS.index(":") else path[min(at, len(path) - 1)]
            out[row, 0, places + (state + self.mistakes) % len(self.task.states)] = 1
        return out, None


@pytest.mark.parametrize("name", TASKS)
def test_who_knows_the_task_is_measured_as_right_and_who_does_not_as_wrong(name):
    for way in WAYS:
        best = make_think_tasks.measure(Knows(TASKS[name]), name, way, 0, 0.0)
        worst = make_think_tasks.measure(Knows(TASKS[name], 1), name, way, 0, 0.0)
        assert {one.value for one in best.right.values()} == {1.0}
        assert {one.value for one in worst.right.values()} == {0.0}
        assert bool(best.steps_right) == (way == PATH)
        assert {one.value for one in best.steps_right.values()} <= {1.0}


def test_a_training_is_repeated_to_the_bit():
    first, second = (make_think_tasks.train(BALL, PATH, 3, steps=3) for _ in range(2))
    assert first[1] == second[1]
    for one, other in zip(first[0].parameters(), second[0].parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_record_is_whole():
    for (name, way), models in study.recorded().items():
        assert [(one.task, one.way, one.seed) for one in models] == [
            (name, way, seed) for seed in study.SEEDS
        ]
        for one in models:
            assert tuple(one.right) == study.LENGTHS
            assert tuple(one.steps_right) == (study.LENGTHS if way == PATH else ())
            assert all(each.of == study.TESTS for each in one.right.values())
