"""The chapter on training memory: what is drawn was watched, and sentences hold at the edges."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.lessons.efficiency.memory import chapter, words
from llmviz.course.lessons.efficiency.memory.model import Way, Ways, group_sizes, memory_ways
from llmviz.course.ui.cached import cached
from llmviz.models.costs import PRESETS, TrainingMemory, count
from llmviz.processes.background import STOPPED
from llmviz.training.step_memory import (
    FORWARD,
    INPUTS,
    KINDS,
    UPDATE,
    Held,
    Moment,
    StepMemory,
)
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, fine_part, prose_of, sent, unpack_all

PLAIN = Way(0, 1, 1000, 800, 0.0, 10.0)
FOUND = (PLAIN, Way(1, 1, 500, 300, 0.0, 13.0), Way(2, 1, 600, 400, 0.0, 12.0))


@pytest.fixture(scope="module")
def opened():
    return fine_part("efficiency", "memory", memorymodel="words-gpt", memorymoment="3")


def test_the_picture_is_the_step(opened):
    data = sent(opened, "byte_timeline")
    lives, sizes = data["lives"], data["sizes"]
    live = np.zeros_like(data["live"])
    for (_, kind, born, died), size in zip(lives, sizes, strict=True):
        live[kind, born:died] += size
    np.testing.assert_allclose(live, data["live"])
    assert len(data["operations"]) == live.shape[1] and data["chosen"] == 3
    assert list(words.kinds) == list(KINDS)
    parts = list(dict.fromkeys(part for _, part, _ in data["sections"]))
    assert parts == ["embeddings", "block 0", "last norm", "head", "loss", "all weights"]
    assert {name for name in data["names"] if name.startswith("gradient of")}


def test_a_moment_pieces_and_recomputing_are_in_the_link():
    app = fine_part(
        "efficiency", "memory", memorymodel="words-gpt", memoryrows="3", memorypieces="2",
        memoryrecompute="1", memorymoment="999999",
    )  # fmt: skip
    data = sent(app, "byte_timeline")
    assert data["chosen"] is None
    phases = [phase for phase, _, _ in data["sections"]]
    assert phases.count("forward") > 5 and "forward again" in phases
    app = fine_part(
        "efficiency", "memory", memorymodel="words-gpt", memoryrows="2", memorypieces="8"
    )
    assert "memorypieces = 8 does not exist here; 2 is shown" in boxes(app)


def test_every_tensor_and_operation_has_words():
    assert chapter.operation_words("_scaled_dot_product_flash_attention_for_cpu_backward") == (
        "backward of attention"
    )
    assert chapter.part_words("blocks.11") == "block 11"


@given(some.integers(1, 10**9), some.floats(0.5, 20))
def test_the_question_asks_for_the_peak_and_its_answers_lie_apart(weights, times):
    peak = int(times * weights)
    held = Held("temporary", "x", "", (1,), "float32", peak, 0, 1)
    asked = chapter.question(StepMemory((Moment(FORWARD, INPUTS, ""),), (held,)), weights)
    if asked is None:
        return
    values = sorted(value for (value,) in asked.values)
    assert asked.values[asked.right] == (round(peak / 1e6, 1),) and len(values) == 4
    assert min(b - a for a, b in pairwise(values)) >= chapter.APART * values[-1]


def test_only_the_weights_are_drawn_before_the_guess(covers):
    data = sent(fine_part("efficiency", "memory", memorymodel="tiny-world-gpt"), "byte_timeline")
    assert data["live"].shape[0] == len(data["kinds"]) == 1
    assert {kind for _, kind, _, _ in data["lives"]} == {0}
    assert data["words"]["peak"] == words.weights_alone
    assert data["least"] > 4 * data["live"].max()  # a stripe, under all that is offered


@given(
    some.lists(some.floats(0, 1e15), min_size=5, max_size=5).filter(lambda v: sum(v) > 0),
    some.floats(0.001, 1e6),
)
@settings(max_examples=50)
def test_the_verdict_says_what_the_sum_says(values, gb):
    found = TrainingMemory(*values)
    line = chapter.report(found, 1, 1, gb)
    assert "e+" not in line
    assert ("does not fit" in line) == (found.total > gb * 1e9)


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ({"paperheads": "7"}, "n_head must divide n_embd"),
        ({"paperheads": "0"}, "n_head must be"),
        ({"paperlayers": "0"}, "n_layer must be"),
        ({"papervocab": "0"}, "vocab_size must be"),
        ({"paperrows": "0"}, "rows must be at least 1"),
        ({"papertokens": "0"}, "tokens must be at least 1"),
        ({"paperpieces": "0"}, "pieces must be at least 1"),
        ({"paperpieces": "99"}, "pieces must not exceed rows"),
        ({"paperrows": "1000000", "papertokens": "10000000"}, "tokens; got 10,000,000,000,000"),
    ],
    ids=str,
)
def test_sizes_that_cannot_be_are_refused_and_kept(monkeypatch, link, rule):
    monkeypatch.setattr(chapter, "controls", lambda state: None)  # only the part on paper
    app = fine_part("efficiency", "memory", **link)
    assert rule in boxes(app)
    (key, value), *_ = link.items()
    label = words.paper[key]
    assert [one.value for one in app.number_input if one.label == label] == [int(value)]


def test_a_huge_model_has_a_sum(monkeypatch):
    monkeypatch.setattr(chapter, "controls", lambda state: None)
    app = fine_part(
        "efficiency", "memory", paperlayers="1000", paperheads="1000", paperwidth="1000000",
        papervocab="10000000", papergb="0.001",
    )  # fmt: skip
    assert "does not fit into 0.001 GB" in prose_of(app)


def test_what_was_measured_is_told(monkeypatch):
    jobs = FakeJob([Ways(0, (PLAIN,)), Ways(4, (*FOUND, Way(0, 4, 700, 200, 3e-7, 11.0)))])
    monkeypatch.setattr(chapter, "ways_of", cached(1)(lambda *given: jobs))
    app = fine_part("efficiency", "memory", memorymodel="words-gpt", memoryways="1")
    said = prose_of(app)
    assert "up to rounding" in said and "3.0·10⁻⁷" in said
    rows = unpack_all(app, "case_rows")[-1]["rows"]
    assert [row["note"] for row in rows][:2] == ["0.0 · 1.00 × the time", "0.0 · 1.30 × the time"]
    jobs.results, jobs.state = jobs.results[:1], STOPPED
    fine_part("efficiency", "memory", memorymodel="words-gpt", memoryways="1")


def test_a_peak_in_the_update_has_a_place():
    moments = (Moment(FORWARD, INPUTS, ""), Moment(UPDATE, "", "mul"))
    memory = StepMemory(moments, (Held("temporary", "mul", "", (2,), "float32", 8, 1, 2),))
    assert "in the part “update, all weights”" in chapter.peak_told(memory)


def asked(**more):
    sizes = {key: PRESETS["modern 7B"][field] for key, field in chapter.SIZES.items()}
    given = dict(
        papershape="modern 7B", paperdtype="float32", paperoptimizer="sgd", paperrecompute=0,
        paperpieces=1, paperattention="fused", papertokens=8,
    )  # fmt: skip
    return chapter.settings_of(given | sizes | more)[0]


def test_a_typed_size_changes_what_follows_from_it_and_nothing_else():
    published = asked()
    assert (published.hidden_size, published.n_kv_head) == (14336, 8)
    deeper = asked(paperlayers=33, papervocab=50_000)
    assert (deeper.hidden_size, deeper.n_kv_head) == (14336, 8)
    assert count(deeper) > count(published)
    assert (asked(paperheads=16).hidden_size, asked(paperheads=16).n_kv_head) == (14336, None)
    wider = asked(paperwidth=8192)
    assert (wider.hidden_size, wider.n_kv_head) == (None, 8)


def test_learned_positions_are_enough_for_the_texts():
    shape = {key: PRESETS["GPT-2"][field] for key, field in chapter.SIZES.items()}
    short, long = (asked(papershape="GPT-2", papertokens=n, **shape) for n in (1024, 5000))
    assert count(long) - count(short) == (5000 - 1024) * 768


def test_a_small_model_has_bars_that_can_be_read():
    found = TrainingMemory(4e3, 4e3, 8e3, 0.0, 20e3)
    chart = chapter.bars(found, "light")
    assert chart.data[0].x == (4, 4, 8, 0, 20) and chart.layout.xaxis.title.text == "kB"


def test_the_ways_are_what_they_say():
    found = list(memory_ways("names-gpt", 2, 8, rounds=1))
    last = found[-1].ways
    assert [(way.recompute, way.pieces) for way in last] == [
        (0, 1),
        *((every, 1) for every in group_sizes(2)),
        (0, 2),
    ]
    assert all(way.difference == 0 for way in last if way.recompute)
    assert 0 < last[-1].difference < 1e-4
    assert last[1].activations < last[0].activations
    assert all(way.milliseconds > 0 for way in last) and found[0].rounds == 0
    with pytest.raises(ValueError, match="rows must be at least 1"):
        next(memory_ways("names-gpt", 0, 8))
