"""The chapter "Features, judged by the truth": what its sentences say at any setting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.discoveries import features_record as record
from llmviz.course.lessons.discoveries.features import BUNDLED, PARAMS, chapter, model
from llmviz.course.lessons.discoveries.features.model import Going, OwnFeatures
from llmviz.interpretability.sparse_autoencoder import Dictionary
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, prose_of, unpack_all

KINDS = ["word", "rule", "state"]


def test_right_is_where_the_feature_is_on_and_its_value_does_not_travel(covers):
    page = fine_part("discoveries", "features")
    (strip,) = unpack_all(page, "token_strip")
    (row,) = strip["rows"]
    assert max(row["values"]) == 0
    shown = unpack_all(opened(), "token_strip")[0]["rows"][0]
    asked = chapter.question(State())
    at = [place for place, _ in asked.values]
    assert at[asked.right] == int(np.argmax(shown["values"]))
    assert sum(value > 0 for value in shown["values"]) == 1, "it is on at one of these tokens"
    assert asked.values[asked.right][1] == 0 and len(set(at)) == 3
    tokens = [name.strip() for name in shown["text"]] if "text" in shown else None
    assert tokens is None or tokens[at[asked.right]].endswith("chair")
    assert all(asked.answers)


class State(dict):
    """The controls at their defaults."""

    def __missing__(self, key: str):
        return next(param.default for param in PARAMS if param.key == key)


@pytest.mark.parametrize(
    "other", [{"feattext": "A chair."}, {"feature": 3}, {"featlabel": "word girls"}]
)
def test_another_text_or_feature_is_shown_at_once(other):
    assert chapter.question(State(other)) is None


def test_what_the_chapter_says_of_its_numbers_holds():
    word, state = (model.medians(record.MAIN, record.SIZE, kind) for kind in ("word", "state"))
    assert model.verdict(word["feature"], word["unit"]) == "more"
    rest = [state[name].max() for name in model.SOURCES[:-1]]
    assert state["reading"].min() > max(rest)
    assert 0 < model.lacks() < np.mean(model.rises(record.scores().of(record.MAIN)))
    for score in record.scores().layers:
        assert score.floor < score.loss < score.mean_loss
    assert "more than all that separates the model" in prose_of(opened())


def opened(**link: str):
    return fine_part("discoveries", "features", show="1", **link)


@pytest.mark.parametrize("which", [f"{layer}.{features}" for layer, features in BUNDLED])
def test_a_feature_of_each_dictionary_is_read_out(which):
    layer, features = map(int, which.split("."))
    link = {"featof": which, "feature": str(features - 1), "featkind": KINDS[layer % 3]}
    page = opened(**link)
    said, found = prose_of(page), record.bundle(layer, features)
    assert f"Feature {features - 1} is on at" in said or f"Feature {features - 1} was on at" in said
    strip = unpack_all(page, "token_strip")[1]
    values = found.windows[features - 1]
    assert [len(row["values"]) for row in strip["rows"]] == [(one >= 0).sum() for one in values]
    assert chapter.read_out(layer, features, KINDS[layer % 3]).split(". ")[0] in said


def test_the_strongest_token_of_a_text_is_where_the_record_says():
    found = record.bundle(record.MAIN)
    for feature in (0, 17, 200):
        ids, values = chapter.window(found, feature, 0)
        story = chapter.story_ids()[int(found.stories[feature, 0])][1:]
        place = int(found.places[feature, 0])
        assert values.max() == found.highest[feature]
        assert ids[int(values.argmax())] == story[place]
        assert chapter.window(found, feature, 4)[1].max() <= values.max()


def test_a_feature_that_is_never_on_says_so():
    silent = np.flatnonzero(record.bundle(0).share == 0)
    assert len(silent)
    page = opened(featof="0.384", feature=str(silent[0]))
    said = prose_of(page)
    assert f"Feature {silent[0]} was on at none of the held-out tokens" in said
    assert "It is the best feature for nothing that the grammar knows here" in said


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "There is no text yet"), ("so " * 400, "first 1,000 of them are read")],
)
def test_texts_that_cannot_be_read_whole_are_told(text, message):
    page = opened(feattext=text)
    assert message in boxes(page)


def test_a_feature_that_is_on_nowhere_in_the_text_is_told():
    page = opened(feattext=".", feature="0")
    tokens = "is on at none of 1 tokens" in prose_of(page)
    assert tokens or "is on at 1 of 1 tokens" in prose_of(page)


@given(
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
def test_two_kinds_are_compared_only_where_their_trainings_do_not_mix(one, other):
    said = model.verdict(one, other)
    one, other = np.round(one, 2), np.round(other, 2)
    assert (said == "tie") == (max(min(one), min(other)) <= min(max(one), max(other)))
    assert model.verdict(other, one) == {"more": "less", "less": "more", "tie": "tie"}[said]


@pytest.mark.parametrize("parent", ["-1", "0", "191"])
def test_a_feature_of_the_smallest_dictionary_has_its_parts_below_it(parent):
    page = opened(featparent=parent)
    of, found = model.parts(384), record.bundle(record.MAIN, 384)
    at = int(parent)
    if at < 0:
        at = int(np.bincount(of[of >= 0]).argmax())
    below = int(((found.parent == at) & (found.shared >= 0.5)).sum())
    said = prose_of(page)
    assert (f"has {below} parts" in said) == (below > 1)
    assert ("has one part" in said) == (below == 1)
    assert ("has no part" in said) == (below == 0)
    cases = [case for case in chapter.split_cases(at) if case.label[0][0].startswith("384")]
    assert len(cases) == min(below, chapter.MOST)
    assert all(case.value >= 0.5 for case in cases)


def learned(features: int = 6, *, silent: bool = False, harm: bool = True) -> OwnFeatures:
    rng = np.random.default_rng(1)
    share = np.full(features, 0.25)
    share[0] = 0.0 if silent else 0.25
    strip = np.abs(rng.normal(size=(features, 2, 3))).astype(np.float16)
    strip[:, 1, 2] = -1  # the second piece is shorter
    dictionary = Dictionary(
        2, *(np.zeros(shape) for shape in ((4, features), features, (features, 4), 4))
    )
    return OwnFeatures(
        dictionary, 800, 200, 0.75, 1.5, 1.75, 2.5 if harm else 1.5, share,
        ((0, 5, 6, 7), (0, 8, 9)), np.tile([0, 1], (features, 1)), strip,
    )  # fmt: skip


@pytest.mark.parametrize("wanted", ["0", "3", "383"])
@pytest.mark.parametrize("silent", [False, True])
def test_features_of_the_learners_model_are_shown(monkeypatch, wanted, silent):
    found = learned(silent=silent)
    steps = [Going(0.0), Going(0.5, 0.3), Going(1.0, 0.25, found)]
    monkeypatch.setattr(chapter, "job_of", lambda *_: FakeJob(steps))
    page = fine_part("discoveries", "features", featown="1", featopen=wanted)
    said = prose_of(page)
    feature = min(int(wanted), 5)
    assert "Learned from 800 tokens" in said
    assert f"{int(silent)} of 6 features never came on at" in said
    on = not (silent and feature == 0)
    assert (f"Feature {feature} is on at none" in said) == (not on)
    strip = unpack_all(page, "token_strip")[-1]
    if on:
        assert [len(row["values"]) for row in strip["rows"]] == [3, 2]


def test_a_share_of_the_loss_is_only_named_where_there_is_one():
    assert "of the difference comes back" in chapter.own_read(learned())
    assert "of the difference comes back" not in chapter.own_read(learned(harm=False))


@pytest.mark.parametrize(("steps", "message"), [(1, "The model reads."), (2, "miss 30.0")])
def test_a_training_that_goes_on_says_how_far_it_is(monkeypatch, steps, message):
    going = [Going(0.0), Going(0.5, 0.3)][:steps]
    monkeypatch.setattr(chapter, "job_of", lambda *_: FakeJob(going, "running"))
    page = fine_part("discoveries", "features", featown="1")
    assert message in prose_of(page)


def test_what_is_on_at_a_token_is_listed_by_value():
    assert chapter.strongest_here(np.zeros(5)) == "–"
    assert chapter.strongest_here(np.array([0, 1.0, 0, 3.0, 2.0])) == "3: 3.00 · 4: 2.00 · 1: 1.00"
