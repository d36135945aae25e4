"""The chapter on the cache: cells are the cache's own, sums hold for any shape and any times."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.background import STOPPED
from llmviz.lessons.efficiency.cache import contents, sizes, words, work
from llmviz.models.arithmetic import BYTES
from llmviz.models.cache_shapes import CacheShape
from llmviz.models.pass_work import PassWork
from llmviz.models.settings import GPTConfig
from llmviz.pretrained import load_bundled
from llmviz.study.roofline import BATCHES, DECODE, PREFILL, Point, Roofline
from llmviz.ui.kept import kept
from tests.pages.finished_job import FakeJob
from tests.pages.harness import ODD_TEXTS, boxes, charts, fine, open_part, prose_of, sent

TEXT = "Once Anna and Samir met at the market. Then"


@pytest.fixture(scope="module")
def opened():
    return open_part(
        "efficiency", "cache", cachemodel="words-gpt", cachetext=TEXT, cachelength="9",
        cachehead="2", cachecell="values.3.5",
    )  # fmt: skip


@pytest.fixture(scope="module")
def cache():
    """The keys and values of the text's first nine tokens, from a pass over them alone."""
    model, tokenizer, _ = load_bundled("words-gpt")
    ids = tokenizer.encode_from_start(TEXT)[:9]
    cache = model.new_cache()
    with torch.no_grad():
        model(torch.tensor([ids]), cache=cache)
    return cache


def test_cells_are_the_caches_own(opened, cache):
    fine(opened)
    view = sent(opened, "matrix_view")
    drawn = {one["name"]: one["values"] for one in view["matrices"]}
    np.testing.assert_allclose(drawn["keys"], cache.keys[0][0, 2, :9], atol=1e-5)
    np.testing.assert_allclose(drawn["values"], cache.values[0][0, 2, :9], atol=1e-5)
    assert view["pinned"] == ["values", 3, 5]
    grid = sent(opened, "cell_grid")["values"]
    np.testing.assert_allclose(grid[:, :9], cache.keys[0][0, :, :9].norm(dim=-1), atol=1e-4)
    assert not grid[:, 9:].any()


def test_the_sentence_counts_the_tensors(opened, cache):
    held = sum(part[:, :, :9].numel() * 4 for part in (*cache.keys, *cache.values))
    assert f"{held:,} bytes" in prose_of(opened) and f"adds {held // 9:,} bytes" in prose_of(opened)


def test_places_that_do_not_exist_are_let_go():
    app = open_part(
        "efficiency", "cache", cachemodel="words-gpt", cachetext="a", cachelength="32",
        cachelayer="99", cachehead="99", cachecell="keys.99.99",
    )  # fmt: skip
    fine(app)
    assert sent(app, "matrix_view")["pinned"] is None


def test_odd_texts_are_read_or_refused():
    for text in ODD_TEXTS.values():
        fine(open_part("efficiency", "cache", cachemodel="words-gpt", cachetext=text))
    assert words.EMPTY in boxes(
        open_part("efficiency", "cache", cachemodel="words-gpt", cachetext="")
    )


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ({"cachekvheads": "7"}, "kv_heads must divide heads; got heads=64, kv_heads=7"),
        ({"cachelayers": "0"}, "layers must be from 1"),
        ({"cacheheads": "0"}, "heads must be from 1"),
        ({"cachekvheads": "0"}, "kv_heads must be from 1"),
        ({"cacheheadsize": "0"}, "head_size must be from 1"),
    ],
    ids=str,
)
def test_shapes_that_cannot_be_are_refused_and_kept(monkeypatch, link, rule):
    monkeypatch.setattr(contents, "draw", lambda state: None)  # only the part on shapes
    app = open_part("efficiency", "cache", **link)
    fine(app)
    assert rule in boxes(app)
    ((key, value),) = link.items()
    assert [n.value for n in app.number_input if n.label == words.SIZES[key]] == [int(value)]


def test_the_largest_shape_has_a_sum(monkeypatch):
    monkeypatch.setattr(contents, "draw", lambda state: None)
    largest = dict.fromkeys(words.SIZES, "1000000")
    app = open_part("efficiency", "cache", cachetokens="131072", cachetexts="256", **largest)
    fine(app)
    assert "TB" in prose_of(app)


@given(
    some.integers(1, 200),
    some.integers(1, 12),
    some.integers(1, 12),
    some.integers(1, 300),
    some.sampled_from(sorted(BYTES)),
)
@settings(deadline=None)
def test_the_question_has_one_right_answer(layers, groups, share, size, dtype):
    shape = CacheShape(layers, groups * share, groups, size)
    question = sizes.question(shape, dtype)
    right = f"{round(2 * layers * groups * size * BYTES[dtype]):,}"
    found = [answer == right for answer in question.answers]
    assert found == [i == question.right for i in range(len(found))]
    line = sizes.told(shape, 1, 1, dtype)
    assert ("times as much" in line) == (share > 1) and "1 bytes" not in question.text


def test_sums_have_digits_at_both_ends():
    smallest, largest = CacheShape(1, 1, 1, 1), CacheShape(10**6, 10**6, 1, 10**6)
    chart = sizes.bars(smallest, 1, 1, "int4", "light")
    assert chart.data[0].x == (1, 1, 1) and chart.layout.xaxis.title.text.startswith("B of")
    line = sizes.told(largest, 256, 131_072, "float32")
    assert "e+" not in line and "1,000,000 times as much" in line


@given(some.integers(1, 6), some.integers(1, 512), some.integers(1, 5_000), some.integers(0, 128))
@settings(deadline=None)
def test_the_question_on_twice_the_texts_contradicts_itself_nowhere(layers, width, vocab, seen):
    shape = GPTConfig(n_layer=layers, n_embd=width, n_head=1, vocab_size=vocab)
    for batch in BATCHES:
        question = work.question(shape, batch, seen)
        told = re.search(r"([\d.]+) times as many", question.reasons[question.right])
        assert 1 < float(told[1]) < 2


def test_a_context_of_two_tokens_has_a_prefill_of_one():
    counted = work.works(GPTConfig(context_length=2))
    assert [one.tokens for one in counted] == [1, *BATCHES]
    assert work.table(counted)[0][:2] == ("prefill of 1 token", 1)


def measured(seconds: float = 0.001, factor: float = 1.0) -> Roofline:
    """A roofline whose pass over b texts takes `seconds` times b to the power of `factor`."""
    shape = PassWork(1_000_000, 400_000, 0, 5_000)
    points = [Point(PREFILL, 1, shape._replace(cache_written=5_000), seconds)]
    for batch in BATCHES:
        one = PassWork(10_000 * batch, 400_000, 4_960 * batch, 40 * batch)
        points.append(Point(DECODE, batch, one, seconds * batch**factor))
    return Roofline(8, 5e10, 1e10, 2e10, tuple(points))


def test_what_was_measured_is_drawn_and_told(monkeypatch):
    job = FakeJob([measured(factor=0.5)])
    monkeypatch.setattr(work, "roofline_of", kept(1)(lambda *given: job))
    link = {"cachemodel": "words-gpt", "roofline": "1", "decodebatch": "2"}
    app = open_part("efficiency", "cache", **link)
    fine(app)
    chart = charts(app)[-1]
    decoded = chart["data"][-1]
    assert len(decoded["x"]) == len(BATCHES) and decoded["text"] == [str(b) for b in BATCHES]
    assert decoded["marker"]["size"].index(16) == 2
    near, far = chart["data"][:2]
    assert near["y"][1] == near["y"][2] == 50.0 and near["x"][1] == 2.5 and far["x"][1] == 5.0
    assert "4 texts at once are 2.0 times as fast as one text alone" in prose_of(app)
    job.state = STOPPED
    fine(open_part("efficiency", "cache", **link))


@pytest.mark.parametrize(
    ("factor", "words_of_it"),
    [(0.5, "times as fast as one"), (0.99, "about the same time"), (1.5, "times as long as one")],
)
def test_batches_are_called_faster_only_where_they_are(factor, words_of_it):
    line = " ".join(work.told(measured(factor=factor), len(BATCHES) - 1))
    assert line.count("Per token") == line.count(words_of_it) == 1
    assert "at once are" not in " ".join(work.told(measured(factor=factor), 0))


def test_points_above_the_roof_are_named_where_there_are_any():
    lines = work.told(measured(seconds=1.0), 0)
    assert words.OVERHEAD in lines and words.ABOVE not in lines
    assert "1,000 ms for a pass" in lines[1]
    lines = work.told(measured(seconds=1e-9), 0)
    assert words.ABOVE in lines and words.OVERHEAD not in lines


def test_nothing_is_measured_before_the_button(opened):
    assert [button.label for button in opened.button if button.label == words.START]
    assert "Measured:" not in prose_of(opened)
