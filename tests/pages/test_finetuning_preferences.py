"""The chapter on preferences: pairs, the loss in cells, and what a run is told to have done."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from llmviz.course.components import unpack
from llmviz.course.lessons.finetuning.preferences import chapter, words
from llmviz.course.lessons.finetuning.preferences.model import COMMAND, SETTINGS, recorded
from llmviz.course.lessons.finetuning.training_cost import seconds_of
from llmviz.files.paths import TUNED
from llmviz.finetuning import preference_run
from llmviz.finetuning.adapted import pairs_of
from llmviz.finetuning.dpo import dpo_steps
from llmviz.finetuning.preferences import RULES
from llmviz.finetuning.recipes import TUNINGS
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine, fine_part, prose_of, sent, unpack_all


def test_before_training_every_pair_costs_ln_2(opened):
    board = sent(opened, "matrix_view")
    values = {one["name"]: one["values"] for one in board["matrices"]}
    assert not values["gain"].any() and not values["margin"].any()
    np.testing.assert_allclose(values["nats"], math.log(2), rtol=1e-6)
    np.testing.assert_array_equal(values["now"], values["before"])
    assert f"{math.log(2):.4f} nats" in prose_of(opened)


@pytest.fixture(scope="module")
def opened():
    return fine_part("finetuning", "preferences", rule="place", pair="2", beta="0.3", preferat="0")


def test_the_pair_of_the_link_is_shown_and_open(opened):
    pair = chapter.shown_pairs("place")[1]
    assert pair.story in [block.value for block in opened.code]
    rows = unpack_all(opened, "case_rows")[0]["rows"]
    assert [row["label"][1][0] for row in rows] == [pair.better, pair.worse]
    score = RULES["place"]
    assert score(pair.better, pair.story) > score(pair.worse, pair.story)
    assert sent(opened, "matrix_view")["pinned"] == ["nats", 1, 0]


LOGS = some.floats(-200, 0)


@given(LOGS, LOGS)
def test_the_sentence_about_a_pair_says_which_is_likelier_and_how_much(better, worse):
    line = chapter.thinks(better, worse)
    if abs(better - worse) < 0.05:
        assert "equally probable" in line
    else:
        likelier = "better" if better > worse else "worse"
        assert f"finds the {likelier} ending" in line
        told = re.search(r"ending ([\d.,]+) times", line)
        assert (
            abs(better - worse) > 13
            if told is None
            else math.isclose(
                float(told[1].replace(",", "")), math.exp(abs(better - worse)), rel_tol=0.06
            )
        )


@given(LOGS, LOGS, LOGS, LOGS)
def test_what_praise_did_to_the_better_ending_is_asked_and_said(first, worse, last, worse_now):
    endings = (preference_run.Ending("A story.", "The end.", -2.0),)
    run = [
        preference_run.Look(at, 0.7, 0.1, 1.0, 0.0, endings, 1.0, (logs,))
        for at, logs in ((0, (first, worse)), (120, (last, worse_now)))
    ]
    asked = chapter.question(run, 0)
    if asked is not None:
        assert abs(last - first) >= chapter.APART and len(asked.answers) in (3, 4)
        assert asked.values[asked.right] == (chapter.one_in(last),)
        reason = asked.reasons[asked.right]
        assert ("even rarer" in reason) == (last < first)
        ahead = chapter.words.ask_worse["ahead"].partition(":")[0]
        assert (ahead in reason) == (last - first > worse_now - worse)


def test_the_first_pair_shows_that_both_endings_became_rarer():
    first, last = (recorded()["place"][at].logs[0] for at in (0, -1))
    assert last[0] < first[0] and last[1] < first[1] and last[0] > last[1]


@given(some.lists(some.tuples(LOGS, LOGS, LOGS, LOGS), min_size=2, max_size=5))
def test_the_cells_are_the_steps_of_the_loss_in_training(rows):
    now, before = np.array(rows)[:, :2], np.array(rows)[:, 2:]
    cells = chapter.matrices_of(now.tobytes(), before.tobytes(), 0.3)
    values = {cell.name: cell.values[:, 0] for cell in cells}
    steps = dpo_steps(*map(torch.tensor, (*now.T, *before.T)), 0.3)
    for name in ("margin", "probability", "nats"):
        np.testing.assert_allclose(values[name], getattr(steps, name), rtol=1e-6, atol=1e-30)


def test_beta_is_on_a_slider_of_many_stops_and_old_links_still_say_it():
    stops = [float(one) for one in words.betas]
    assert stops == sorted(stops) and len(stops) >= 15
    assert {"0.01", "0.03", "0.1", "0.3", "1"} <= set(words.betas)
    assert all(b <= 1.5 * a + 1e-9 for a, b in pairwise(stops))
    app = fine_part("finetuning", "preferences", beta="0.6")
    (slider,) = (one for one in app.select_slider if one.label == words.beta)
    assert slider.value == "0.6" and "× β = 0.6" in str(sent(app, "matrix_view")["matrices"])
    slider.set_value("0.03").run()
    fine(app)
    assert app.query_params["beta"] == "0.03"


def looks(shares, moved):
    endings = (preference_run.Ending("A story.", "The end.", -2.0),) * 3
    return [
        preference_run.Look(8 * i, 0.7, 0.1 * i, share, kl, endings, 1.5 * i)
        for i, (share, kl) in enumerate(zip(shares, moved, strict=True))
    ]


some_looks = some.lists(
    some.tuples(some.floats(0, 1), some.floats(0, 9)), min_size=1, max_size=9
).map(lambda pairs: looks(*zip(*pairs, strict=True)))


@given(some_looks)
def test_what_is_said_of_over_optimising_is_the_first_best_look_and_the_last(found):
    best = max(one.preferred for one in found)
    first = next(one for one in found if one.preferred == best)
    line = chapter.told_over(found)
    assert (chapter.new_pairs(0) in line) == (best == 0)
    assert f"{found[-1].divergence:.3f} nats per token" in " ".join(line.split())
    if best and first is not found[-1]:
        assert f"After {first.step} updates" in line and chapter.new_pairs(best) in line
        assert f"from {first.divergence:.3f} to {found[-1].divergence:.3f}" in line


@given(some.sampled_from(sorted(RULES)), some.integers(0, SETTINGS["steps"]))
def test_a_recorded_run_is_read_at_its_last_look_before_a_step(rule, step):
    run = recorded()[rule]
    logs, updates = chapter.recorded_at(run, step)
    assert updates <= step < updates + preference_run.looks_every(SETTINGS["steps"])
    assert (logs is None) == (updates == 0)
    if logs is not None:
        assert logs.tolist() == [
            list(row) for row in next(x for x in run if x.step == updates).logs
        ]


def test_a_recorded_run_is_gone_through_before_anybody_trains():
    link = dict(rule="place", pair="2", preferat="60", show="1")
    app = fine_part("finetuning", "preferences", **link)
    pair, looks = chapter.shown_pairs("place")[1], recorded()["place"]
    rows, read = (picture["rows"] for picture in unpack_all(app, "case_rows"))
    assert [row["label"][1][0] for row in rows[::2]] == [pair.better, pair.worse]
    assert [row["value"] for row in rows[1::2]] == [chapter.one_in(x) for x in looks[4].logs[1]]
    text = prose_of(app)
    assert "After 60 updates, the model finds" in text and "recorded run of 120 updates" in text
    assert [row["value"] for row in read] == [look.preferred for look in looks]
    assert f"{looks[-1].divergence:.3f} nats per token" in text
    for rule, when, at in (("place", "before", 0), ("happier", "after", -1)):
        said = chapter.look_slots(recorded())[f"{rule}_{when}"]
        count = sum(better > worse for better, worse in recorded()[rule][at].logs)
        assert said == chapter.of_pairs(count)


def test_a_copy_without_the_record_names_the_command_and_goes_on(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError(f"the record is not here; {COMMAND}")

    monkeypatch.setattr(chapter, "recorded", missing)
    app = fine_part("finetuning", "preferences", show="1")
    assert COMMAND in boxes(app) and "Before training" in prose_of(app)


def fake_run(model) -> FakeJob:
    """A run that has ended with an adapter that changes nothing."""
    tensors = {path: (a, 0 * b) for path, (a, b) in pairs_of(model).items()}
    return FakeJob([*looks((0.0, 0.5, 0.75), (0.0, 0.1, 0.4)), preference_run.Learned(tensors)])


def test_a_run_that_has_ended_is_drawn_told_and_used(monkeypatch):
    from llmviz.course.lessons.finetuning.lora.chapter import beside

    job = fake_run(beside("few-shot").model)
    monkeypatch.setattr(chapter, "run_of", lambda *given: job)
    link = dict(rule="shorter", preferupdates="16", beta="0.03", prefer="1")
    app = fine_part("finetuning", "preferences", **link)
    text = prose_of(app)
    assert chapter.new_pairs(0.75) in text and "0.400 nats per token" in text
    assert f"{math.exp(0.4):.2f}" in text
    pictures = unpack_all(app, "case_rows")
    assert [len(picture["rows"]) for picture in pictures] == [4, 3]
    assert [row["value"] for row in pictures[1]["rows"]] == [0.0, 0.5, 0.75]
    assert len(unpack_all(app, "draw_on")) == 1
    # The adapter adds nothing, so both models write the same, and every pair still costs ln 2.
    assert words.not_yet not in text
    values = {
        one["name"]: one["values"]
        for part in app.get("bidi_component")
        if part.proto.component_name == "llmviz_matrix_view"
        for one in unpack(part.proto.bytes)["matrices"]
    }
    np.testing.assert_allclose(values["nats"], math.log(2), atol=1e-4)


def test_what_a_training_costs_is_the_bundled_curves_time_in_updates():
    lines = (TUNED / "instructions" / "metrics.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    spent, before = 0.0, 0
    for one in records:
        spent += (one["tokens"] - before) / one["tokens_per_second"]
        before = one["tokens"]
    assert spent < records[-1]["seconds"]  # which holds what was measured between updates
    each = spent / (records[-1]["step"] * TUNINGS["instructions"].plan.train.batch_size)
    assert seconds_of(10) == pytest.approx(10 * each)


def test_all_and_none_of_the_new_pairs_are_said_in_words():
    said = [chapter.new_pairs(share) for share in (0, 0.5, 1)]
    assert [any(sign.isdigit() for sign in one) for one in said] == [False, True, False]


def test_the_distance_is_explained_as_of_its_own_texts():
    assert "endings that it draws itself" in " ".join(words.read_moved.split())


def test_in_how_many_pairs_it_is_so_has_words_for_none_and_for_all():
    said = [chapter.of_pairs(count) for count in range(chapter.SHOWN + 1)]
    assert len(set(said)) == len(said)
    assert "0" not in said[0] and said[-1].count(str(chapter.SHOWN)) == 1
