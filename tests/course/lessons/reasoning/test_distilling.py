"""Students of the story model: what they read, how they learn, and what was measured of them."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from experiments import distilled as make_distilled
from llmviz.corpus.next_tokens import NextTokens
from llmviz.corpus.tiny_world import is_story
from llmviz.course.lessons.reasoning.distillation import distil_record as record
from llmviz.course.lessons.reasoning.distillation import distilling as students
from llmviz.course.lessons.reasoning.distillation.distilling import SOFT_1, TEXT, WAYS, WRITTEN, Way
from llmviz.course.lessons.reasoning.distillation.soft_place import place_of
from llmviz.nn.distillation import distillation_loss, soft_targets


def test_stories_without_a_word_are_the_others_in_the_same_order():
    every = students.new_stories(40, 0)
    some = students.new_stories(40, 0, "red")
    assert all(map(is_story, some))
    kept = [one for one in every if not re.search(r"\bred\b", one)]
    assert some[: len(kept)] == kept
    assert students.has_word("a red, big hat", "red")
    assert not students.has_word("he reddened", "red")
    assert not students.has_word("red", "")


def test_what_a_student_reads_begins_and_ends_as_a_story():
    tokenizer = students.teacher()[1]
    plain = students.transfer(WAYS[TEXT], 3, 1)
    soft = students.transfer(WAYS[SOFT_1], 3, 1)
    own = students.transfer(WAYS[WRITTEN], 2, 1)
    assert plain.ids == soft.ids
    assert not plain.logits
    assert [one.shape for one in soft.logits] == [
        (len(ids) - 1, tokenizer.vocab_size) for ids in soft.ids
    ]
    for ids in (*plain.ids, *own.ids):
        assert ids[0] == tokenizer.end
        assert len(ids) - 1 <= students.CONTEXT
        assert tokenizer.end not in ids[1:-1]
    assert plain.tokens == sum(len(ids) - 1 for ids in plain.ids)
    assert [tokenizer.decode(ids[1:-1]) for ids in plain.ids] == students.new_stories(3, 1)
    assert own.ids == students.transfer(WAYS[WRITTEN], 2, 1).ids


@pytest.mark.parametrize(
    ("way", "count", "without", "reason"),
    [(Way(), 0, "", "at least 1"), (Way(written=True), 2, "red", "by the grammar")],
)
def test_what_cannot_be_read_is_refused(way, count, without, reason):
    with pytest.raises(ValueError, match=reason):
        students.transfer(way, count, 0, without)


def test_a_way_or_a_number_of_updates_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no way 'best'"):
        next(students.student_run("best", 1))
    for updates in (0, students.UPDATES + 1):
        with pytest.raises(ValueError, match="updates must be"):
            next(students.learn(None, None, Way(), 0, updates))


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_a_student_that_is_the_teacher_has_no_loss(temperature):
    given = students.transfer(WAYS[SOFT_1], 2, 0)
    loss = students.batch_loss(students.teacher()[0], given, [0, 1], Way(temperature=temperature))
    assert loss.item() == pytest.approx(0, abs=1e-4)  # its logits are kept in float16


def test_the_loss_of_text_is_the_mean_over_the_tokens_of_all_stories():
    given = students.transfer(WAYS[TEXT], 2, 0)
    torch.manual_seed(0)
    model = students.new_student(students.teacher()[1].vocab_size).eval()
    nats = []
    for ids in given.ids:
        log_q = model(torch.tensor([ids[:-1]]))[0][0].log_softmax(-1)
        nats += (-log_q[range(len(ids) - 1), ids[1:]]).tolist()
    assert students.batch_loss(model, given, [0, 1], Way()).item() == pytest.approx(
        np.mean(nats), rel=1e-4
    )


@pytest.mark.parametrize("name", [TEXT, SOFT_1, "top"])
def test_a_shorter_training_is_the_beginning_of_a_longer_one(monkeypatch, name):
    monkeypatch.setattr(students, "EVERY", 2)
    few = students.tests(2)
    monkeypatch.setattr(students, "tests", lambda: few)
    short = list(students.student_run(name, 6, 0, 2))
    long = list(students.student_run(name, 6, 0, 4))
    assert [one.step for one in long] == [0, 2, 4]
    assert long[-1].excess < long[0].excess
    for one, other in zip(short, long, strict=False):
        assert (one.step, one.tokens) == (other.step, other.tokens)
        assert one.excess == pytest.approx(other.excess, rel=1e-5)


def test_what_a_student_lacks_is_its_divergence_from_the_grammar():
    model, truths = record.bundled(TEXT), students.tests()[:2]
    parts = students.divided(model, truths)
    end, expected = students.teacher()[1].end, []
    for truth in truths:
        with torch.no_grad():
            logits = model(torch.tensor([[end, *truth.ids[:-1]]]))[0][0]
        q = logits.double().softmax(-1).numpy()
        expected += [
            entropy(one.dense(len(row)), row) for one, row in zip(truth.following, q, strict=False)
        ]
    assert students.excess(parts) == pytest.approx(np.mean(expected), rel=1e-6)


def logits(seed: int, count: int = 30) -> np.ndarray:
    return 3 * np.random.default_rng(seed).normal(size=count)


def truth_of(seed: int, count: int = 30, options: int = 4) -> NextTokens:
    rng = np.random.default_rng(seed)
    ids = np.sort(rng.choice(count, options, replace=False))
    return NextTokens(ids, rng.dirichlet(np.ones(options)))


@given(st.integers(0, 999), st.integers(1, 30), st.sampled_from([0.5, 1.0, 3.0]))
def test_a_place_is_what_torch_and_scipy_give(seed, options, heat):
    teacher, student, truth = logits(seed), logits(seed + 1), truth_of(seed, options=options)
    came = int(truth.ids[0])
    place = place_of(teacher, student, truth, came, heat)
    for one in (place.true, place.hard, place.soft, place.student, place.heated):
        assert one.sum() == pytest.approx(1)
    own = torch.tensor(student[None], requires_grad=True)
    distillation_loss(own, soft_targets(torch.tensor(teacher[None]), heat), heat).backward()
    pull = own.grad[0].numpy()
    np.testing.assert_allclose(place.soft_pull[:-1], pull[place.ids], atol=1e-9)
    assert place.soft_pull.sum() == pytest.approx(0, abs=1e-9)
    own.grad = None
    torch.nn.functional.cross_entropy(own, torch.tensor([came])).backward()
    np.testing.assert_allclose(place.hard_pull[:-1], own.grad[0].numpy()[place.ids], atol=1e-9)
    assert came in place.ids
    assert place.bits["true"] == pytest.approx(entropy(truth.probabilities, base=2), abs=1e-9)
    soft = torch.tensor(teacher / heat).softmax(-1).numpy()
    assert place.bits["soft"] == pytest.approx(entropy(soft, base=2))
    assert place.outside == pytest.approx(np.delete(soft, truth.ids).sum(), abs=1e-9)


def test_the_noise_of_a_place_is_that_of_tokens_drawn_again():
    truth, student = truth_of(5), logits(2)
    place = place_of(logits(1), student, truth, int(truth.ids[0]), 1.0)
    rng, true = np.random.default_rng(0), truth.dense(30)
    drawn = np.eye(30)[rng.choice(truth.ids, 20_000, p=truth.probabilities)]
    assert ((drawn - true) ** 2).sum(-1).mean() == pytest.approx(place.noise, rel=0.02)


def test_a_certain_place_has_no_noise_and_a_teacher_of_itself_no_pull():
    truth = NextTokens(np.array([3]), np.array([1.0]))
    place = place_of(logits(1), logits(1), truth, 3, 2.0)
    assert place.noise == place.bits["true"] == 0
    np.testing.assert_allclose(place.soft_pull, 0, atol=1e-12)


@pytest.mark.parametrize("heat", [0.0, -1.0, math.nan])
def test_a_place_at_no_temperature_is_refused(heat):
    with pytest.raises(ValueError, match="positive"):
        place_of(logits(1), logits(1), truth_of(1), 0, heat)


def test_the_record_has_three_students_of_each_kind_and_its_loss_adds_up():
    found = record.recorded()
    assert set(found.runs) == set(record.KINDS)
    for run in found.runs.values():
        one = run.measured
        parts = one.floor.value + one.excess.value + one.dice.value
        assert one.loss.value == pytest.approx(parts, abs=1e-4)
        assert one.floor == found.teacher.floor
        assert run.points[-1].step == students.UPDATES
        assert run.points[-1].excess == pytest.approx(one.excess.value, rel=1e-4)
        assert (run.own_floor is None) == WAYS[run.kind.way].written
        assert one.excess.value > found.teacher.excess.value
    ends = [run.points[-1].tokens for run in found.runs.values()]
    assert max(ends) < 1.06 * min(ends)  # equal tokens, as far as whole stories allow


@pytest.mark.parametrize("way", record.BUNDLED)
def test_a_bundled_student_is_the_one_that_was_measured(way):
    run = record.recorded().of(way, record.FEW)[0]
    parts = students.divided(record.bundled(way), students.tests())
    assert students.excess(parts) == pytest.approx(run.measured.excess.value, rel=0.01)  # float16


def test_a_short_training_can_be_measured_and_read_again(monkeypatch):
    monkeypatch.setattr(make_distilled, "PROBED", 2)
    monkeypatch.setattr(make_distilled, "WORD_TESTS", 4)
    few = students.tests(4)
    monkeypatch.setattr(students, "tests", lambda: few)
    kind = record.Kind(TEXT, 4, 5, "red")
    run, _ = make_distilled.trained(kind, updates=2)
    again = record._run(json.loads(json.dumps(make_distilled._packed(run))))
    assert again.kind == kind
    assert again.measured.excess.value == pytest.approx(run.measured.excess.value, rel=1e-5)
    assert again.points[-1].step == 2
    assert run.own_floor is not None
    assert run.own > run.own_floor
    assert run.measured.rules.count == 14 * make_distilled.PROBED
    assert run.measured.word.possible > 0
