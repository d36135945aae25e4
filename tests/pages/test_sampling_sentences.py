"""Sentences of the lesson on sampling that are computed: true at their edges."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest

from llmviz.corpus.probes import probes
from llmviz.course.lessons.sampling import texts
from llmviz.course.lessons.sampling.beam import chapter as beam
from llmviz.course.lessons.sampling.beam.model import compare, continuation_count
from llmviz.course.lessons.sampling.dice import chapter as dice
from llmviz.course.lessons.sampling.knows import model as probe_chances
from llmviz.course.lessons.sampling.knows import words as knows_words
from llmviz.course.lessons.sampling.pipeline import chapter as pipeline
from llmviz.course.lessons.sampling.temperature import chapter as temperature
from llmviz.course.lessons.sampling.writing import words as writing_words
from llmviz.sampling import beam_search, exhaustive_search, sampling_steps, softmax
from tests.pages.harness import fine, open_part, prose_of, sent, unpack_all
from tests.pages.test_sampling_questions import LOGITS, numbers, prompt_of, table


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("settings", [{}, {"top_k": 1}, {"top_p": 0.5}, {"min_p": 0.2}])
def test_what_has_no_bar_and_what_is_cut_are_counted(logits, settings):
    prompt, own = prompt_of(logits), np.sort(softmax(logits))[::-1]
    told, bars = pipeline.hook(prompt), min(pipeline.SHOWN, logits.size)
    assert ("others" in told) == (bars < logits.size) and numbers(told)[0] == bars
    if bars < logits.size:
        assert numbers(told)[1] == logits.size - bars
        assert numbers(told)[2] == pytest.approx(100 * own[bars:].sum(), rel=0.06, abs=0.06)
    steps = sampling_steps(logits, **settings)
    told, kept = pipeline.caption(prompt, steps), int(steps.kept.sum())
    assert ("so chance has nothing" in told) == (kept == 1)
    if kept > 1:
        assert numbers(told)[0] == kept and ("All" in told) == (kept == logits.size)
    if 1 < kept < logits.size:
        assert numbers(told)[1] == pytest.approx(100 * own[kept:].sum(), rel=0.06, abs=0.06)


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
@pytest.mark.parametrize("u", [0.0, 0.3, 0.999999])
def test_a_draw_is_told_as_it_was(logits, u):
    steps = sampling_steps(logits)
    token = steps.draw(u)
    told = dice.caption(prompt_of(logits), steps, u, token)
    largest = steps.probabilities.max()
    tied = np.count_nonzero(steps.probabilities == largest)
    if largest > 1 - 1e-12:
        assert "nothing else can be drawn" in told
    elif tied > 1:
        assert f"Here {tied:,} tokens share the first place" in told
    else:
        assert ("miss it" in told) == (token == int(steps.probabilities.argmax()))
        assert f"{100 * (1 - largest):.3g} miss" in told


def test_the_limit_of_versions_is_the_number_that_is_said():
    assert texts.MOST_WAYS == 16
    assert "sixteen versions besides the first" in writing_words.fork_limit


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
    line = temperature.arithmetic(logits, ids, ["a", "b", "c", "d"], stop)
    inside = line.split(": ", 1)[1].split(". The sum")[0]
    assert not re.search(r"[−+×÷] ?[-−]", inside) and "-" not in inside
    plain = inside.replace("−", "-").replace("÷", "/").replace("^", "**")
    steps = [eval(step, {"e": math.e}) for step in plain.split(" = ")]
    assert steps == pytest.approx([softmax(logits / stop)[1]] * 3, abs=2e-3)


@pytest.mark.parametrize("logits", LOGITS, ids=range(len(LOGITS)))
def test_the_ends_are_true_of_any_logits(logits):
    prompt = prompt_of(logits)
    steps = sampling_steps(logits)
    drawn = steps.draw_many(np.array([0.1, 0.5, 0.5]))
    said = dice.end(prompt, steps, 0.5, drawn)
    times = int((drawn == drawn[-1]).sum())
    assert numbers(said["times"]) == [times] and said["n"] == "3 draws"
    assert numbers(said["share"])[0] == pytest.approx(100 * times / 3, abs=0.06)
    said = pipeline.end(prompt, steps, 0.5)
    assert numbers(said["kept"]) == [steps.kept.sum()]
    assert said["p"] == said["own"]


@pytest.mark.parametrize("can_end", [True, False])
@pytest.mark.parametrize("v", [2, 3, 29])
def test_the_end_of_the_search_says_where_greedy_choice_stands(v, can_end):
    model, stop = table(v, 1), 0 if can_end else None
    every = exhaustive_search(model, [0], 3, stop_id=stop)
    compared = compare(every, lambda width: beam_search(model, [0], width, 3, stop_id=stop), (1, 2))
    prompt = SimpleNamespace(text="d", vocab_size=v, stop_id=stop)
    said = beam.end(prompt, compared)
    greedy = every.place(beam_search(model, [0], 1, 3, stop_id=stop).tokens())
    assert ("greedy choice gives the most probable" in said["found"]) == (greedy == 1)
    assert greedy == 1 or f"gives number {greedy:,} of {len(every.ids):,} texts" in said["found"]
    assert numbers(said["many"]) == [continuation_count(v, 10, can_end=can_end)]


def test_the_end_of_a_text_of_one_token_is_true(bundle):
    app = open_part("sampling", "writing", written="1", show="1")
    fine(app)
    assert "Along your" not in prose_of(app) and "all that follows. Before" in prose_of(app)
    assert "<strong>Try:" not in prose_of(open_part("sampling", "writing", written="0", show="1"))


def test_what_tells_the_number_of_tokens_waits_for_the_answer(covers):
    before = sent(open_part("sampling", "pipeline", p="0.75"), "sampler")
    assert "top_p" not in [control["name"] for control in before["controls"]]
    after = sent(open_part("sampling", "pipeline", p="0.75", show="1"), "sampler")
    assert "top_p" in [control["name"] for control in after["controls"]]


def test_the_entropy_of_each_token_waits_for_the_answer(bundle, covers):
    app = open_part("sampling", "writing", written="30")
    text = unpack_all(app, "writer")[0]  # then, if at all, three lanes that have no question
    asked = "At one place in this text" in prose_of(app)
    assert text["veiled"] == text["asks"] == asked == (text["entropy"] is None)
    assert (text["least"] is None) == asked and text["p"].any() != asked
    assert any(text["alternatives"]) != asked
    assert len(unpack_all(open_part("sampling", "writing", show="1"), "writer")[0]["entropy"]) >= 30


def test_the_end_on_temperature_says_what_its_table_shows(bundle):
    app = open_part("sampling", "temperature", prompt="Mila found a ball", show="1")
    table = sent(app, "softmax_view")
    end = [block.proto.body for block in app.get("html") if "how much it dares" in block.proto.body]
    shown = numbers(re.findall(r"</code> go from (.*) at T = 2", end[0])[0])
    logits = np.asarray(table["logits"], dtype=float)
    assert shown[1::2] == [0.5, 1] and len(shown) == 5
    assert shown[::2] == sorted(shown[::2], reverse=True) and logits[0] == logits.max()
