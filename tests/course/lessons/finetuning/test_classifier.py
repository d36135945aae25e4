"""A classifier: its training in the background, and how many examples it needs."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch

from experiments import labelled_texts as make_labelled_texts
from llmviz import pretrained
from llmviz.course.lessons.finetuning.classifier import class_texts
from llmviz.course.lessons.finetuning.classifier import class_training as study
from llmviz.course.lessons.finetuning.classifier import examples_curve as curve
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning import classifier as c
from llmviz.finetuning.labels import Labelled, stories
from tests.pages.small_model import make_checkpoint

OWN = Labelled.of([(f"the dog number {n} ran home", "animal") for n in range(8)]
                  + [(f"she ate {n} plums", "food") for n in range(6)])  # fmt: skip
PLAN = study.ClassPlan(own=OWN, steps=16, examples=50)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    make_checkpoint(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pretrained, "CHECKPOINTS", folder)
        yield pretrained.load_bundled("tiny-world-gpt")[:2]


@pytest.mark.parametrize("way", ["head", "last", "all", "nothing"])
def test_what_comes_out_is_the_classifier_that_was_tested(base, way):
    plan = dataclasses.replace(PLAN, way=way, seed=1)
    told = list(study.training(plan))
    begun, states = told[0], [one for one in told if isinstance(one, study.Trained)]
    assert isinstance(begun, study.Begun) and sum(begun.counts.values()) == 11
    points = [one for one in told if isinstance(one, study.Point)]
    assert [one.step for one in points] == sorted({one.step for one in points})
    assert points[-1].step == states[-1].step == plan.steps
    model, tokenizer = base
    for state in (states[0], states[-1]):  # each stands alone
        again = study.rebuilt(model, plan, state)
        asked = c.encode(tokenizer, state.texts, model.context_length)
        assert np.allclose(c.predict(again, asked).numpy(), state.probabilities, atol=1e-5)
    name = "head.linear.weight"
    assert name in states[0].weights or "linear.weight" in states[0].weights
    changed = sum(values.size for values in states[-1].weights.values())
    assert changed == begun.trained <= begun.parameters
    first, last = states[0].weights, states[-1].weights
    assert any(not np.array_equal(first[key], last[key]) for key in first)


def test_accuracy_and_table_are_counts_of_the_test():
    chances = np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.3, 0.7]], np.float32)
    state = study.Trained(1, {}, chances, np.array([0, 0, 1, 1]), ("a", "b", "c", "d"), ("x", "y"))
    assert state.accuracy == 0.75 and state.table.tolist() == [[1, 1], [0, 2]]


@pytest.fixture(scope="module")
def model(base):
    state = [one for one in study.training(PLAN) if isinstance(one, study.Trained)][-1]
    return study.rebuilt(base[0], PLAN, state)


def test_padding_changes_nothing_at_the_last_token(base, model):
    tokenizer = base[1]
    texts = ("she ate", "the dog ran home and she ate plums")
    alone = [c.predict(model, c.encode(tokenizer, [text], 40)).numpy()[0] for text in texts]
    idx, lengths = c.encode(tokenizer, texts, 40)
    other = idx.clone()
    other[0, lengths[0] :] = (other[0, lengths[0] :] + 1) % model.body.vocab_size  # another filler
    for ids in (idx, other):
        with torch.no_grad():
            found = model(ids, lengths)[0].softmax(-1).numpy()
        assert np.allclose(found, alone, atol=1e-5)


def test_a_reading_is_of_the_last_tokens_and_explains_the_chosen_class(base, model):
    tokenizer = base[1]
    text = "the dog ran home and she ate plums"
    found = study.read(model, tokenizer, text, longest=6)
    ids = tokenizer.encode_from_start(text)
    assert list(found.ids) == ids[-6:] and found.left_out == len(ids) - 6
    assert found.target == found.probabilities.argmax()
    other = study.read(model, tokenizer, text, 6, target=1 - found.target)
    assert np.array_equal(other.probabilities, found.probabilities)
    # with two classes, what raises one logit against the other need not mirror it: bodies agree
    assert found.without.shape == other.gradient.shape == (6,)
    empty = study.read(model, tokenizer, "", 6)
    assert len(empty.ids) == 1 and np.isfinite(empty.without).all()


@pytest.mark.parametrize("reads", class_texts.READS)
def test_a_part_of_a_story_is_in_it_and_keeps_its_label(reads):
    whole, some = stories("about", 40), class_texts.labelled_stories("about", reads, 40)
    assert some.labels == whole.labels
    for story, text in zip(whole.texts, some.texts, strict=True):
        assert text in story and text[-1] in '.")?!'
        assert story.startswith(text) if reads == "first" else story.endswith(text)


def test_an_unknown_part_is_refused():
    with pytest.raises(ValueError, match="reads must be one of first, last, whole"):
        class_texts.part_of("A story.", "middle")


def test_as_many_are_tested_as_is_said():
    train, test = class_texts.parts("who", "first", 30)
    assert abs(len(test.texts) - class_texts.TESTED) <= 2 and abs(len(train.texts) - 30) <= 2
    own_train, own_test = class_texts.parts("who", "first", 5, OWN)
    assert len(own_train.texts) == 5 and len(own_test.texts) == 3


def test_a_way_that_is_none_and_a_class_with_one_text_are_refused(base):
    with pytest.raises(ValueError, match="way must be one of"):
        next(study.training(dataclasses.replace(PLAN, way="tail")))
    with pytest.raises(ValueError, match="at least 2 texts"):
        Labelled.of([("a b", "x"), ("c d", "x"), ("e f", "y")])
    assert torch.is_grad_enabled()


def test_the_bundled_curves_are_whole_and_of_these_settings():
    found = curve.measured()
    about = json.loads((EXPERIMENT_FOLDER / curve.FILE).read_text("utf-8"))
    assert about["command"] == curve.COMMAND and about["steps"] == curve.STEPS
    assert len(about["accuracy"]) == len(list(curve.runs()))
    assert [band.way for band in found.bands] == list(curve.STEPS)
    for band in found.bands:
        for low, mean, high in zip(band.lowest, band.mean, band.highest, strict=True):
            assert 0 <= low <= mean <= high <= 1
    assert 0.5 <= found.guess < 0.6  # two classes, about as many of each


def test_a_file_that_lacks_a_training_is_refused_with_its_name(tmp_path):
    about = json.loads((EXPERIMENT_FOLDER / curve.FILE).read_text("utf-8"))
    key = next(iter(curve.runs())).key
    del about["accuracy"][key]
    (tmp_path / curve.FILE).write_text(json.dumps(about), "utf-8")
    with pytest.raises(ValueError, match=f"lacks 1 trainings, such as '{key}'"):
        curve.measured(tmp_path)


def test_texts_that_are_trained_on_are_not_tested():
    pool, test = make_labelled_texts.texts()
    assert (
        len(pool.texts) >= curve.COUNTS[-1]
        and abs(len(test.texts) - make_labelled_texts.TESTED) <= 2
    )
    small, large = pool.first(10, 0), pool.first(300, 0)
    assert set(small.texts) <= set(large.texts)


def test_what_is_measured_already_is_not_measured_again(tmp_path, monkeypatch):
    monkeypatch.setattr(curve, "COUNTS", (2, 4))
    monkeypatch.setattr(curve, "SEEDS", (0,))
    monkeypatch.setattr(make_labelled_texts, "TESTED", 6)
    monkeypatch.setattr(make_labelled_texts, "COUNTS", (2, 4))
    done = []
    monkeypatch.setattr(make_labelled_texts, "measure", lambda run, *_: done.append(run.key) or 0.5)
    monkeypatch.setattr(make_labelled_texts, "features", lambda *_: None)
    assert make_labelled_texts.make(tmp_path, most=3) == len(list(curve.runs())) - 3
    assert make_labelled_texts.make(tmp_path) == 0
    assert done == [run.key for run in curve.runs()]
    assert curve.measured(tmp_path).bands[0].mean == (0.5, 0.5)
