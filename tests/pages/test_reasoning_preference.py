"""The chapter "A model of preference": what its sentences say at any setting, what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.preference import accuracy, chapter, holes
from llmviz.course.lessons.reasoning.preference.preference_model import COMMAND
from llmviz.course.lessons.reasoning.preference.preference_reading import pair_numbers
from llmviz.course.lessons.reasoning.preference.preference_record import recorded
from llmviz.course.lessons.reasoning.preference.preference_texts import Judged
from llmviz.course.lessons.reasoning.preference.reward_search import Found
from llmviz.course.ui import question
from tests.pages.finished_job import FakeJob
from tests.pages.harness import fine, open_part, prose_of

REWARD = st.floats(-9, 9)


@given(REWARD, REWARD, st.integers(0, 1))
def test_a_pair_is_told_as_it_is(one, two, preferred):
    steps = pair_numbers((one, two), preferred)
    said = chapter.pair_read(steps)
    apart = (one, two)[preferred] - (one, two)[1 - preferred]
    assert ("disagrees" in said) == (apart < 0) and ("equal, so" in said) == (apart == 0)
    assert ("changes little" in said) == (steps.probability >= chapter.SURE)
    assert f"{math.log1p(math.exp(-apart)):.3f}" in said


@pytest.mark.parametrize("preferred", [0, 1])
def test_cells_of_a_pair_are_what_their_arithmetic_says(preferred):
    given_ = ("It was Monday.", "All were glad.", "All were sad.")
    found = {one.name: one.values for one in chapter.pair_matrices(given_, preferred)}
    np.testing.assert_allclose(found["hidden"] @ found["weights"], found["rewards"], atol=1e-4)
    assert found["preferred"] == found["rewards"][preferred]
    assert found["difference"] == found["preferred"] - found["other"]
    assert found["nats"] == pytest.approx(-np.log(found["probability"]))
    assert found["pull"] == pytest.approx(1 - found["probability"])
    np.testing.assert_allclose(found["gradient"], found["pull"] * found["sign"])


def test_the_ending_with_the_higher_reward_is_the_answer_and_equal_ones_are_not_asked():
    given_ = ("It was Monday.", "All were glad.", "All were sad.")
    one, two = chapter.rewards_of(given_)
    asked = chapter.higher_question(given_)
    assert asked.answers[asked.right].startswith("To the first" if one > two else "To the second")
    turned = chapter.higher_question((given_[0], given_[2], given_[1]))
    assert turned.right == 1 - asked.right
    assert chapter.higher_question((given_[0], "Same.", "Same.")) is None


def found_of(*rewards: float, mood: int = 1, breaks: int | None = None) -> list[Found]:
    truth = Judged(mood, breaks, False)
    return [
        Found(at, "changed", "<b>x</b>", one, 1 + 32 * at, truth) for at, one in enumerate(rewards)
    ]


@given(REWARD, REWARD, REWARD, st.sampled_from([-1, 0, 1]), st.sampled_from([None, 7]))
def test_a_search_is_told_as_it_is(first, last, best, mood, breaks):
    found = found_of(first, last, mood=mood, breaks=breaks)
    good = mood > 0 and breaks is None
    said = " ".join(holes.live_end(found, (32, best)).split())
    assert ("A hole" in said) == (not good and last > best)
    assert ("it is good" in said) == good
    assert "No good endings" in holes.live_end(found, (0, float("nan")))
    rows = holes.step_rows(found)
    assert [row[0] for row in rows] == ["1", "0"]
    assert rows[0][3:5] == ("yes" if mood > 0 else "no", "yes" if breaks is None else "no")


def test_a_round_that_found_nothing_has_a_row_only_at_the_end():
    found = found_of(0.0, 1.0)
    kept = [Found(at, "kept", "x", 1.0, 9, Judged(0, 3, True)) for at in (2, 3)]
    rows = holes.step_rows([*found, *kept])
    assert [row[0] for row in rows] == ["3", "1", "0"]
    assert rows[0][4] == "not judged"
    line = holes.run_figure(FakeJob([*found, *kept]), 3, "no story", "light").data[0]
    assert list(line.y) == [0.0, 1.0, 1.0]


def test_the_record_is_told_as_it_is():
    found = recorded()
    asked = holes.holes_question()
    share = sum(one.hole for one in found.searches) / len(found.searches)
    assert asked.right == (0 if share < 1 / 2 else 1 if share <= 3 / 4 else 2)
    assert f"{found.holes.right} of {found.holes.count}" in asked.reasons[0]
    for pairs in (holes.FEW, holes.MANY):
        good = holes.along(pairs, "good")
        apart = good[:, good.mean(0).argmax()] - good[:, -1]
        told = "over-optimisation" in holes.best_turn(pairs)
        assert told == (apart.mean() > 2 * apart.std(ddof=1) / len(apart) ** 0.5)
    plain, biased = (accuracy.shorter(one).mean() for one in (0.0, 0.5))
    asked = accuracy.shorter_question()
    near = abs(biased - plain) < accuracy.NEAR
    wanted = "About as" if near else "More" if biased > plain else "Less"
    assert asked.answers[asked.right].startswith(wanted)
    sure, agreed, counts = accuracy.bins()
    runs = found.of()
    assert counts.sum() == sum(one.agreed.count for one in runs)
    assert agreed @ counts == pytest.approx(sum(one.agreed.right for one in runs))
    assert ((sure >= 0.5) | (counts == 0)).all()
    lost = [
        accuracy.words.kinds[k] for k in accuracy.KINDS if found.bundled.right[k].interval[0] <= 0.5
    ]
    assert all(one in accuracy.kind_read() for one in lost)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "A search found bad text"),
        ({"prefone": "", "preftwo": ""}, "Both endings are empty"),
        ({"prefstory": "", "prefone": "x"}, "changes the reward most"),
        (
            {"prefone": "<script>alert(1)</script>", "preftwo": "日本語 🙂"},
            "changes the reward most",
        ),
        ({"prefone": "word " * 59}, "changes the reward most"),
        ({"prefwins": "second"}, "the gradient"),
    ],
)
def test_the_page_shows_any_texts(chosen, said):
    page = open_part("reasoning", "preference", show="1", **chosen)
    fine(page)
    assert not page.error
    assert said in prose_of(page) or said in " ".join(prose_of(page).split())
    assert "<script>" not in prose_of(page)


def test_questions_cover_what_gives_them_away(monkeypatch):
    monkeypatch.setattr(question, "COVERS", True)
    page = open_part("reasoning", "preference")
    fine(page)
    text = prose_of(page)
    assert "The loss of a pair" not in text and "95 % interval" not in text
    assert "A search found bad text" not in text


def test_a_copy_without_the_bundled_model_names_the_command(monkeypatch):
    def missing(*_: object) -> None:
        raise ValueError("no")

    monkeypatch.setattr(chapter, "recorded", missing)
    page = open_part("reasoning", "preference")
    fine(page)
    assert any(COMMAND in one.value for one in page.code)
