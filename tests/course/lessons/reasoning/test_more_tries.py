"""More tries at a sum: which one is taken, what it costs, and the bundled results."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments import more_tries as make_more_tries
from llmviz.course.lessons.reasoning import sum_texts as sums
from llmviz.course.lessons.reasoning.best_of_n import model as more
from llmviz.course.lessons.reasoning.best_of_n.model import Try

TRY = st.builds(
    Try,
    st.sampled_from([":132;", "12,13:132;", ":122;", "12,12:122;", ":13", ";", ":9;", ""]),
    st.floats(-9, 0),
)
NUMBERS = (47, 85)


@given(st.lists(TRY, max_size=9))
def test_each_way_takes_the_try_that_it_says(tries):
    counted = Counter(one.answer for one in tries if one.answer is not None)
    best = more.vote(tries)
    assert (best is None) == (not counted)
    if best is not None:
        assert counted[best.answer] == max(counted.values())
        first = [one.answer for one in tries if counted[one.answer] == max(counted.values())]
        assert best.answer == first[0]
    right = [one for one in tries if sums.is_right(NUMBERS, one.text)]
    found = more.checked(tries, NUMBERS)
    assert found == (right[0] if right else tries[0] if tries else None)
    most = more.likely(tries)
    assert most is None if not tries else most.log_p == max(one.log_p for one in tries)
    with pytest.raises(ValueError, match="vote, checked, likely"):
        more.chosen(tries, NUMBERS, "median")


@given(st.lists(TRY, min_size=1, max_size=20), st.integers(1, 6))
def test_groups_share_no_try(tries, count):
    groups = make_more_tries.groups_of(tries, count)
    assert [one for group in groups for one in group] == tries[: len(tries) // count * count]
    assert all(len(group) == count for group in groups)
    both = [
        *make_more_tries.of_kind(tries, more.AT_ONCE),
        *make_more_tries.of_kind(tries, more.STEPS),
    ]
    assert Counter(both) == Counter(make_more_tries.of_kind(tries, more.ALL)) == Counter(tries)


def test_points_are_means_over_sums_of_what_groups_come_to():
    right, wrong = Try(":132;", -1.0), Try("12,12:122;", -2.0)
    tries = [[right, wrong, right, right], [wrong] * 4]
    found = make_more_tries.points_of([NUMBERS, NUMBERS], tries)
    by = {(one.choice, one.count, one.part, one.kind): one for one in found}
    assert by[more.VOTE, 1, more.ALL, more.ALL].right == pytest.approx((0.75 + 0) / 2)
    assert by[more.VOTE, 1, more.ALL, more.ALL].error == pytest.approx(0.375)
    # Of two that differ, the first one wins: (right, wrong) and (right, right).
    assert by[more.VOTE, 2, more.CARRIED, more.ALL].right == pytest.approx(0.5)
    assert by[more.CHECKED, 4, more.ALL, more.ALL].right == pytest.approx(0.5)
    spent = (2 * 5 + 10 + 5 + 4 * 10) / 2
    assert by[more.VOTE, 4, more.ALL, more.ALL].tokens == pytest.approx(spent)
    assert (more.VOTE, 1, more.PLAIN, more.ALL) not in by


def test_the_probability_of_a_try_is_that_of_its_tokens_and_tries_keep_their_seed():
    (tries,) = more.tries_of(sums.bundled(), [NUMBERS], 4, 5)
    (again,) = more.tries_of(sums.bundled(), [NUMBERS], 8, 5)
    assert [one.text for one in again[:4]] == [one.text for one in tries]
    for one in tries:
        text = torch.tensor([sums.encode(sums.question_of(NUMBERS) + one.text)])
        with torch.no_grad():
            log_p = sums.bundled()(text[:, :-1])[0][0].log_softmax(-1)
        own = log_p.gather(-1, text[0, 1:, None])[sums.QUESTION - 1 :].sum()
        assert one.log_p == pytest.approx(float(own), abs=1e-4)


@pytest.mark.parametrize("width", make_more_tries.BEAMS)
def test_a_beam_gives_its_texts_the_most_probable_first(width):
    found = more.beams_of(sums.bundled(), NUMBERS, width)
    assert len(found) == width
    assert all(a.log_p >= b.log_p for a, b in itertools.pairwise(found))
    if width == 1:
        (greedy,) = _greedy()
        assert found[0].text == greedy


def _greedy() -> list[str]:
    from llmviz.finetuning.rollouts import sample_groups

    prompt = sums.encode(sums.question_of(NUMBERS))
    ((ids,),) = sample_groups(sums.bundled(), [prompt], 1, sums.LONGEST, sums.END, 0, 0.0)
    return [sums.decode(ids)]


def test_the_bundled_results_hold_what_the_chapter_says_of_them():
    found = more.recorded()
    for choice in more.CHOICES:
        for part in more.PARTS:
            line = found.line(choice, part)
            assert [one.count for one in line] == list(more.COUNTS)
            assert all(0 <= one.right <= 1 for one in line)
    once = {choice: found.line(choice)[0].right for choice in more.CHOICES}
    assert len(set(once.values())) == 1, "with one try there is nothing to choose"
    for one, other in zip(found.line(more.CHECKED), found.line(more.VOTE), strict=True):
        assert one.right >= other.right
    whole = found.line(more.VOTE)[-1]
    assert found.wrong == round((1 - whole.right) * more.QUESTIONS)
    assert found.forgotten <= found.wrong >= found.lost
    parts = [found.line(more.VOTE, part)[-1] for part in (more.PLAIN, more.CARRIED)]
    assert parts[0].right - parts[1].right > 2 * sum(one.error for one in parts)


def test_the_bundled_results_are_those_of_the_bundled_model():
    questions = sums.sums()[1][:5]
    found = make_more_tries.measure(questions, 4)
    assert len(found.line(more.BEAM)) == len(make_more_tries.BEAMS)
    asked = more.tries_of(sums.bundled(), questions, 4, make_more_tries.SEED)
    rights = [
        sum(sums.is_right(one, text.text) for text in own) / 4
        for one, own in zip(questions, asked, strict=True)
    ]
    assert found.line(more.VOTE)[0].right == pytest.approx(sum(rights) / 5)
