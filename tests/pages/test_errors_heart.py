"""The chapters "Learned by heart" and "What the text says about people": computed sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmviz.corpus.planted import TIMES, Planted
from llmviz.lessons.errors.heart import own_sentence
from llmviz.lessons.errors.heart.chapter import by_times, first_whole, question, report
from llmviz.lessons.errors.people.chapter import kept_word
from llmviz.study.read_planted import PASSES, SEEDS, Kept, Progress, bundled
from tests.pages.harness import fine, open_part


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
    assert len(asked.answers) >= 3
    if right is not None:
        assert asked.answers[asked.right] == {1: "Once"}.get(right, f"{right:,} times")


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
        assert f"with all {right} tokens" in said
    else:
        assert f"the first {right} rightly" in said


@given(st.integers(1, 9), st.integers(0, 9))
def test_a_sentence_of_ones_own_is_said_to_be_known_as_far_as_it_is(length, needed):
    needed = min(needed, length)
    one = Kept(3, ["a"] * length, needed, 1.5, [[]] * length)
    said = own_sentence.report(Planted("a " * length, 3), Progress(5, 5, one))
    assert "3 times in the text" in said
    assert ("nothing to bring out" in said) == (length == 1)
    assert (f"all {length - 1} others" in said) == (length > 1 and needed <= 1)
    assert ("only where it is given whole" in said) == (length > 1 and needed == length)


@pytest.mark.parametrize("text", ["", "word " * 50, "<b>x</b> {0} [[a|b]]", "é" * 299])
def test_odd_sentences_are_refused_or_planted(text):
    fine(open_part("errors", "heart", heartown=text, show="1"))


@pytest.mark.parametrize(
    ("lean", "said", "word"),
    [
        (0.9, 0.9, "kept"),
        (0.9, 0.7, "weakened"),
        (0.7, 0.9, "amplified"),
        (0.7, 0.3, "turned round"),
        (0.5, 0.5, "no lean, as"),
        (0.5, 0.7, "now there is one"),
        (0.3, 0.1, "amplified"),
    ],
)
def test_what_becomes_of_a_lean_is_said(lean, said, word):
    assert word in kept_word(lean, said)
