"""The chapters "Learned by heart" and "What the text says about people": computed sentences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.leaning import JOBS, LEANS, leaning_text
from llmviz.corpus.planted import LENGTH, TIMES, Planted
from llmviz.course.lessons.errors import read_leaning
from llmviz.course.lessons.errors.memorization import chapter, tests
from llmviz.course.lessons.errors.memorization.chapter import (
    by_times,
    caption,
    first_whole,
    mean_needed,
    question,
    report,
)
from llmviz.course.lessons.errors.people import chapter as people
from llmviz.course.lessons.errors.people.chapter import kept_word
from llmviz.course.lessons.errors.read_leaning import HEATS, WRITTEN
from llmviz.course.lessons.errors.read_planted import PASSES, SEEDS, Kept, Progress, bundled
from llmviz.course.lessons.errors.tested_in_training import bundled as scores_of_tests
from llmviz.course.ui.common import percent
from llmviz.course.ui.question import whole_percent
from tests.pages.harness import fine_part


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("passes", PASSES)
def test_the_right_count_is_the_first_from_which_all_come_out(seed, passes):
    model, asked = bundled(seed, passes), question(seed, passes)
    right = first_whole(model)
    for times in TIMES:
        whole = all(one.needed <= 1 for one in by_times(model, times))
        assert whole or right is None or times < right
    before = [times for times in TIMES if right is None or times < right]
    if before:
        assert any(one.needed > 1 for one in by_times(model, before[-1]))
    needed = mean_needed(model)
    assert asked.values[asked.right] == tuple(needed[1:]) and len(asked.answers) == 3
    for line in asked.values:
        assert all(0 <= value <= LENGTH for value in line)
    said = caption(model)
    for text in (asked.text, said):
        assert ("never comes out" in text) == (needed[0] >= LENGTH)
        assert (f"{needed[0]:.3g} of" in text) == (needed[0] < LENGTH)
    assert (f"From {right:,} times on" in said) if right else ("does not always" in said)


tokens = st.lists(st.sampled_from("abc"), min_size=1, max_size=6)


@given(tokens, tokens, st.integers(1, 6))
def test_how_far_a_sentence_is_written_is_counted(sentence, other, given_tokens):
    given_tokens = min(given_tokens, len(sentence))
    left = sentence[given_tokens:]
    written = (other * 6)[: len(left)]
    one = Kept(1, sentence, 1, 0.5, [written] * len(sentence))
    said = report(one, given_tokens)
    right = 0
    while right < len(left) and written[right] == left[right]:
        right += 1
    if not left:
        assert said == "Nothing was left to write."
    elif right == len(left):
        assert "to the very end" in said
    else:
        assert (f"writes {right} as planted" if right else "nothing comes out") in said


@given(st.integers(1, 9), st.integers(0, 9))
def test_a_sentence_of_ones_own_is_said_to_be_known_as_far_as_it_is(length, needed):
    needed = min(needed, length)
    one = Kept(3, ["a"] * length, needed, 1.5, [[]] * length)
    said = chapter.own_report(Planted("a " * length, 3), Progress(5, 5, one))
    assert "3 times in the text" in said
    assert ("nothing to bring out" in said) == (length == 1)
    assert (f"all {length - 1} others" in said) == (length > 1 and needed <= 1)
    assert ("only where it is given whole" in said) == (length > 1 and needed == length)


@pytest.mark.parametrize("text", ["", "word " * 50, "<b>x</b> {0} [[a|b]]", "é" * 299])
def test_odd_sentences_are_refused_or_planted(text):
    fine_part("errors", "memorization", heartown=text, show="1")


@pytest.mark.parametrize(
    ("planted", "given", "word"),
    [
        (0.8, 0.78, "kept"),
        (0.8, 0.4, "weakened"),
        (0.4, 0.8, "amplified"),
        (0.4, -0.4, "turned round"),
        (0.4, 0.04, "hardly anything"),
        (0.4, -0.04, "hardly anything"),
        (0.0, 0.01, "no lean, as"),
        (0.0, -0.2, "now there is one"),
        (-0.4, -0.8, "amplified"),
    ],
)
def test_what_becomes_of_a_lean_is_said(planted, given, word):
    assert word in kept_word(planted, given)


@pytest.mark.parametrize("seed", read_leaning.SEEDS)
@pytest.mark.parametrize("lean", LEANS)
def test_what_is_said_of_jobs_follows_from_all_of_them(lean, seed):
    model = read_leaning.bundled(lean, seed)
    line = people.jobs_line(lean, model)
    assert "{" not in line
    for direct in (True, False):
        first, second = people.means(model, direct=direct)
        for half, mean in ((model.jobs[:JOBS], first), (model.jobs[JOBS:], second)):
            those = [one for one in half if one.direct == direct]
            assert mean == pytest.approx(np.mean([one.probability for one in those]))
            assert whole_percent(mean) in line
        planted = [one.planted for one in model.jobs if one.direct == direct]
        assert 2 * lean - 1 == pytest.approx(2 * (np.mean(planted[: len(planted) // 2]) - 0.5))
    first, second = people.means(model, direct=False)
    ahead = {"she": min(first, second) > 0.5, "he": max(first, second) < 0.5}
    for pronoun, is_ahead in ahead.items():
        assert is_ahead or f"“{pronoun}” is ahead in both halves" not in line
    text = " ".join(leaning_text(lean, seed).documents)
    assert text.count(" said that she ") == text.count(" said that he "), "as the chapter says"


@pytest.mark.parametrize("seed", read_leaning.SEEDS)
@pytest.mark.parametrize("lean", LEANS)
def test_what_was_written_is_counted_sentence_by_sentence(lean, seed):
    model = read_leaning.bundled(lean, seed)
    line = people.wrote_line(lean, model)
    direct = [one for one in model.jobs if one.direct]
    near = people.near_of_draws(lean, len(direct) // 2)
    assert near == pytest.approx(2 * np.sqrt(2 * lean * (1 - lean) / (WRITTEN * len(direct) / 2)))
    for place, heat in enumerate(HEATS):
        halves = [
            np.sum([one.written[place] for one in half if one.direct], axis=0)
            for half in (model.jobs[:JOBS], model.jobs[JOBS:])
        ]
        first, second = (half[0] / half.sum() for half in halves)
        word = kept_word(2 * lean - 1, first - second, near)
        assert f"{heat:g} it writes them {round(100 * abs(first - second))} apart:" in line
        assert word in line
        for one in direct:  # what is drawn is about what the model gives, at a temperature
            expected = read_leaning.sharpened(one.probability, heat)
            spread = np.sqrt(expected * (1 - expected) / WRITTEN)
            assert abs(one.written[place][0] / WRITTEN - expected) < 4.5 * spread + 0.12


@pytest.mark.parametrize("seed", read_leaning.SEEDS)
@pytest.mark.parametrize("lean", LEANS)
def test_the_question_on_a_lean_is_answered_by_the_model(lean, seed):
    asked = people.question(lean, seed)
    half = [one for one in read_leaning.bundled(lean, seed).jobs[:JOBS] if one.direct]
    shares = np.array([one.probability for one in half])
    cold = shares**2 / (shares**2 + (1 - shares) ** 2)  # the softmax at T = 0.5
    right = (cold.mean(), (shares > 0.5).mean())
    near = min(right) <= shares.mean() or sum(right) - 2 * shares.mean() < people.APART
    assert (asked is None) == near
    assert asked is not None or lean < 0.9
    if asked is not None:
        assert asked.values[asked.right] == pytest.approx(right)
        assert len(set(asked.answers)) == len(asked.answers) == 3


def test_the_question_on_a_test_in_the_training_is_answered_by_the_scores():
    asked, scores = tests.tests_question(), scores_of_tests()
    right = np.mean([one.read for one in scores[max(scores)]])
    assert asked.answers[asked.right] == whole_percent(float(right))
    assert len(set(asked.answers)) == 3
    assert (
        percent(float(np.mean([one.other for one in scores[max(scores)]])))
        in asked.reasons[asked.right]
    )
    for copies, name in ((0, "read"), (0, "other")):
        assert percent(float(np.mean([getattr(one, name) for one in scores[copies]]))) in asked.text


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_pronoun_is_said_to_be_ahead_only_where_it_is(first, second):
    line = people.level_line(first, second)
    assert "“she” is ahead" not in line or min(first, second) > 0.5
    assert "“he” is ahead" not in line or max(first, second) < 0.5


@pytest.mark.parametrize("passes", chapter.PASSES)
@pytest.mark.parametrize("seed", chapter.SEEDS)
def test_a_single_reading_leaves_a_trace_though_nothing_comes_out(seed, passes):
    model = chapter.bundled(seed, passes)
    assert chapter.mean_loss(model, 1) < model.unread
    assert chapter.mean_needed(model)[0] > 0.9 * chapter.LENGTH


@given(st.floats(0, 1), st.floats(0, 1))
def test_who_caught_nothing_is_not_said_to_have_caught_and_accused(hits, alarms):
    said = chapter.words.member_read[chapter.verdict(hits, alarms)]
    assert ("catches {hits}" in said) == bool((hits or alarms) and (hits < 1 or alarms < 1))
    assert ("accuses the model of {alarms}" in said) <= bool(alarms)


@pytest.mark.parametrize("lean", [str(lean) for lean in LEANS])
@pytest.mark.parametrize("temperature", ["0", "2"])
def test_the_chapter_on_people_opens_at_its_ends(lean, temperature):
    page = fine_part(
        "errors", "people", lean=lean, leantext="2", leantemperature=temperature, leantaken="jobs"
    )
    assert "What you have seen" in [one.value for one in page.subheader]
