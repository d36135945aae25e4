"""The chapter "A model of preference": what its sentences say at any setting, what it refuses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.reasoning.preference import chapter
from llmviz.course.lessons.reasoning.preference.preference_record import recorded
from llmviz.course.lessons.reasoning.preference.preference_texts import Judged
from llmviz.course.lessons.reasoning.preference.reward_search import Found

REWARD = st.floats(-9, 9)


def test_the_ending_with_the_higher_reward_is_told():
    given_ = ("It was Monday.", "All were glad.", "All were sad.")
    one, two = (reading.reward for reading in chapter.readings_of(given_))
    assert f"likes the {'first' if one > two else 'second'}" in chapter.pair_read(given_)
    turned = chapter.pair_read((given_[0], given_[2], given_[1]))
    assert f"likes the {'second' if one > two else 'first'}" in turned
    assert "Both endings get" in chapter.pair_read((given_[0], "Same.", "Same."))


def found_of(*rewards: float, mood: int = 1, breaks: int | None = None) -> list[Found]:
    truth = Judged(mood, breaks, False)
    return [
        Found(at, "changed", "<b>x</b>", one, 1 + 32 * at, truth) for at, one in enumerate(rewards)
    ]


@given(REWARD, REWARD, REWARD, st.sampled_from([-1, 0, 1]), st.sampled_from([None, 7]))
def test_a_search_is_told_as_it_is(first, last, best, mood, breaks):
    found = found_of(first, last, mood=mood, breaks=breaks)
    good = mood > 0 and breaks is None
    said = " ".join(chapter.live_end(found, (32, best)).split())
    assert ("A hole" in said) == (not good and last > best)
    assert ("it is good" in said) == good
    assert "No good endings" in chapter.live_end(found, (0, float("nan")))
    line = chapter.run_line(found)
    assert list(line.y) == [first, last] and list(line.x) == [0, 1]


def test_the_record_is_told_as_it_is():
    found = recorded()
    asked = chapter.question()
    share = sum(one.hole for one in found.searches) / len(found.searches)
    right = found.bundled.right[chapter.ALL]
    assert asked.values == [(0.0,), (1 - right.right / right.count,), (1.0,), (share,)]
    good = chapter.along("good")
    apart = good[:, good.mean(0).argmax()] - good[:, -1]
    told = "over-optimisation" in chapter.best_turn()
    assert told == (apart.mean() > 2 * apart.std(ddof=1) / len(apart) ** 0.5)
    rows = {row.label: row for row in chapter.kind_rows()}
    for kind in chapter.KINDS:
        row = rows[chapter.words.kinds[kind]]
        assert (row.label in chapter.kind_read()) == (row.interval[0] <= 0.5)
    for nonsense, best in zip(
        chapter.example_rows()[::2], chapter.example_rows()[1::2], strict=True
    ):
        assert nonsense.value > best.value
