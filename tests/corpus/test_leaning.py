"""The text with a planted lean: its shares are those that it says."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.corpus.leaning import EACH, JOBS, MEN, WOMEN, leaning_text


@settings(max_examples=20)
@given(lean=st.floats(0, 1), seed=st.integers(0, 99))
def test_the_lean_is_in_the_text_as_it_was_planted(lean, seed):
    text = leaning_text(lean, seed)
    women, seen, pronouns = defaultdict(int), defaultdict(int), defaultdict(int)
    for line in text.documents:
        if found := re.fullmatch(r"(\w+) is an? (\w+)\.", line):
            seen[found[2]] += 1
            women[found[2]] += found[1] in WOMEN
        elif found := re.fullmatch(r"The (\w+) said that (s?he) was [\w-]+\.", line):
            pronouns[found[1]] += 1
            women[found[1]] += found[2] == "she"
        else:
            found = re.fullmatch(r"(\w+) said that (s?he) was [\w-]+\.", line)
            assert found, line
            assert (found[2] == "she") == (found[1] in WOMEN)
    assert len(text.jobs) == 2 * JOBS == len(seen)
    for at, job in enumerate(text.jobs):
        assert job.share == pytest.approx(lean if at < JOBS else 1 - lean)
        assert seen[job.name] == EACH
        assert pronouns[job.name] == (EACH if job.direct else 0)
        sentences = seen[job.name] + pronouns[job.name]
        assert abs(women[job.name] / sentences - job.share) <= 0.5 / EACH + 1e-9


def test_no_name_is_of_both():
    assert not set(WOMEN) & set(MEN)


@pytest.mark.parametrize("lean", [-0.1, 1.1])
def test_a_lean_that_is_no_share_is_refused(lean):
    with pytest.raises(ValueError, match="a share from 0 to 1"):
        leaning_text(lean)
