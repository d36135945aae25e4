"""Sentences of the lesson on sampling that are computed: true at their edges."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from llmviz.corpus.probes import probes
from llmviz.lessons.sampling import texts
from llmviz.lessons.sampling.dice import chapter as dice
from llmviz.lessons.sampling.dice import words as dice_words
from llmviz.lessons.sampling.knows import words as knows_words
from llmviz.lessons.sampling.pipeline import chapter as pipeline
from llmviz.lessons.sampling.temperature import chapter as temperature
from llmviz.lessons.sampling.writing import words as writing_words
from llmviz.sampling import sampling_steps, softmax
from llmviz.study import probe_chances
from tests.pages.test_sampling_questions import LOGITS, numbers, prompt_of


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("banned", [(), (0,), (0, 1), (-1,)])
def test_the_last_line_is_counted_without_the_tokens_that_have_a_bar(logits, banned):
    banned = tuple(sorted({token % logits.size for token in banned}))
    prompt = prompt_of(logits)
    bars = pipeline.bar_ids(prompt, banned)
    told = pipeline.tail(prompt, banned)
    listed, vocabulary, rest, mass = numbers(told)
    own = np.delete(softmax(logits), bars)
    assert (vocabulary, rest) == (logits.size, logits.size - bars.size)
    assert listed == min(pipeline.SHOWN, logits.size)
    assert mass == pytest.approx(100 * own.sum(), rel=0.06, abs=0.06)
    assert ("forbade" in told) == (bars.size > listed)


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("u", [0.0, 0.3, 0.999999])
def test_a_draw_is_told_as_it_was(logits, u):
    steps = sampling_steps(logits)
    token = steps.draw(u)
    told = dice.why(prompt_of(logits), steps, u, token)
    largest = steps.probabilities.max()
    tied = np.count_nonzero(steps.probabilities == largest)
    if largest > 1 - 1e-12:
        assert "Nothing else can be drawn" in told
    elif tied > 1:
        assert f"Here {tied:,} tokens have the same highest probability" in told
    else:
        taken = "the most probable token was taken" in told
        assert taken == (token == int(steps.probabilities.argmax()))
    assert "not always" in dice_words.title  # true of a draw that took it, too


def test_the_limit_of_versions_is_the_number_that_is_said():
    assert (
        texts.MOST_WAYS == 16 and "sixteen versions besides the first" in writing_words.fork_limit
    )


@pytest.mark.parametrize("kind", probe_chances.SHORT_CUTS)
def test_a_short_cut_is_right_in_most_stories_as_is_said(kind):
    asked = probes(kind, 400)
    fails = sum(map(probe_chances.SHORT_CUTS[kind], asked))
    assert 0 < fails < len(asked) / 2
    assert "right in most stories" in knows_words.short_cuts[kind][1]


@pytest.mark.parametrize("shift", [-3.2, -40.0, 0.0, 5.5])
@pytest.mark.parametrize("stop", [0.5, 1.0, 2.5])
def test_the_arithmetic_of_softmax_can_be_worked_out_as_it_stands(shift, stop):
    """A sign never stands behind another one, and each step gives the next."""
    logits = np.array([0.3, -0.4, -1.0, -2.0]) + shift
    ids = np.array([0, 1, 2, 3])
    line = temperature._terms(logits, ids, ["a", "b", "c", "d"], stop)["line"]
    inside = line.split(": ", 1)[1].split(". The sum")[0]
    assert not re.search(r"[−+×÷] ?[-−]", inside) and "-" not in inside
    plain = inside.replace("−", "-").replace("÷", "/").replace("^", "**")
    steps = [eval(step, {"e": math.e}) for step in plain.split(" = ")]
    assert steps == pytest.approx([softmax(logits / stop)[1]] * 3, abs=2e-3)
