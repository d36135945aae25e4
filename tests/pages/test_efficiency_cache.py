"""The chapter on the cache: cells are the cache's own, sums hold for any shape and any times."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.components.matrix_view.view import field, matrix_payload
from llmviz.course.lessons.efficiency.cache import chapter, words
from llmviz.course.lessons.efficiency.cache.model import (
    BATCHES,
    DECODE,
    PREFILL,
    CacheContents,
    Point,
    Roofline,
    cache_contents,
    works,
)
from llmviz.course.ui.cached import cached
from llmviz.models.gpt import GPT
from llmviz.models.memory_limits import spoken_bytes
from llmviz.models.pass_work import CacheShape, PassWork
from llmviz.models.settings import GPTConfig
from llmviz.pretrained import load_bundled
from llmviz.processes.background import STOPPED
from tests.pages.finished_job import FakeJob
from tests.pages.harness import boxes, charts, fine_part, prose_of, sent, unpack_all

TEXT = "Once Anna and Samir met at the market. Then"


@pytest.fixture(scope="module")
def opened():
    return fine_part(
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
    view = sent(opened, "matrix_view")
    drawn = {one["name"]: one["values"] for one in view["matrices"]}
    np.testing.assert_allclose(drawn["keys"], cache.keys[0][0, 2, :9], atol=1e-5)
    np.testing.assert_allclose(drawn["values"], cache.values[0][0, 2, :9], atol=1e-5)
    assert view["pinned"] == ["values", 3, 5]
    grid = sent(opened, "cell_grid")["values"]
    np.testing.assert_allclose(grid[:, :9], cache.keys[0][0, :, :9].norm(dim=-1), atol=1e-4)
    assert not grid[:, 9:].any()


def test_a_cell_opens_to_the_models_own_input_and_weights(opened, cache):
    """The oracle: the layer's norm and its one matrix of queries, keys and values."""
    model, tokenizer, _ = load_bundled("words-gpt")
    drawn = {one["name"]: one for one in sent(opened, "matrix_view")["matrices"]}
    ids = torch.tensor(tokenizer.encode_from_start(TEXT)[:9])
    attn, size = model.blocks[0].attn, model.config.head_size
    with torch.no_grad():
        x = model.blocks[0].norm1(model.token(ids) + model.position.weight[:9])
    np.testing.assert_allclose(drawn["x"]["values"], x, atol=1e-5)
    message = sent(opened, "matrix_view")
    for number, (name, letter) in enumerate((("keys", "K"), ("values", "V")), start=1):
        first = (number * attn.n_head + 2) * size  # head 2
        weight = attn.qkv.weight[first : first + size].detach().T
        assert drawn[f"W_{letter}"]["values"] == field(f"W_{letter}")  # fetched by the browser once
        np.testing.assert_array_equal(message[field(f"W_{letter}")], weight)
        products = x.numpy()[3] * weight.numpy()[:, 5]
        bias = attn.qkv.bias.detach()[first : first + size].numpy()
        np.testing.assert_array_equal(message[field(f"b_{letter}")][0], bias)
        assert drawn[name]["values"][3, 5] == pytest.approx(products.sum() + bias[5], abs=1e-5)
        assert drawn[name]["op"]["of"] == ["x", f"W_{letter}", f"b_{letter}"]
    assert message["layout"] == [["keys"], ["values"]]
    assert chapter.report(model, 0) in prose_of(opened)


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (dict(n_kv_head=2), {"keys": "matmul"}),
        (dict(n_kv_head=1, positions="rotary"), {"before": "matmul", "keys": "turned"}),
        (dict(qkv_bias=False, norm="post"), {"keys": "matmul"}),
    ],
    ids=str,
)
def test_the_arithmetic_of_other_models_ends_at_their_cells(options, kinds):
    torch.manual_seed(0)
    config = GPTConfig(
        n_layer=2, n_head=4, n_embd=16, vocab_size=9, context_length=8, **options
    )  # fmt: skip
    model = GPT(config).eval()
    with torch.no_grad():
        model.blocks[1].attn.qkv.weight.normal_()
    found = cache_contents(model, [1, 2, 3], 2)
    head = config.kv_heads - 1
    weights = chapter.head_weights(model, 1, head)
    shown = chapter.matrices(model, found, weights, ["t"] * 5, 1, head, 4)
    drawn = {one.name: one for one in shown}
    matrix_payload(
        shown, [["keys"], ["values"]], None, numbers="auto"
    )  # all operands are there and fit
    assert {name: drawn[name].op.kind for name in kinds} == kinds

    def product(name):
        x, weight, *bias = (drawn[part].values for part in drawn[name].op.operands)
        return x @ weight + sum(bias)

    np.testing.assert_allclose(product("values"), drawn["values"].values, atol=1e-5)
    keys = product(next(iter(kinds)))
    if "before" in kinds:
        angle, (left, right) = drawn["angle"].values, np.split(keys, 2, axis=1)
        cos, sin = np.cos(angle), np.sin(angle)
        keys = np.concatenate((left * cos - right * sin, right * cos + left * sin), axis=1)
    np.testing.assert_allclose(keys, drawn["keys"].values, atol=1e-5)
    line = chapter.report(model, 1)
    assert ("plus b_K" in line) == config.qkv_bias and ("norm" in line) == (config.norm == "pre")
    assert ("turned" in line) == (config.positions == "rotary")


def test_the_sentence_counts_the_tensors(opened, cache):
    held = sum(part[:, :, :9].numel() * 4 for part in (*cache.keys, *cache.values))
    assert f"9 tokens fill {spoken_bytes(held)}" in prose_of(opened)
    assert unpack_all(opened, "case_rows")[0]["rows"][1]["value"] == held


def test_places_that_do_not_exist_are_let_go():
    app = fine_part(
        "efficiency", "cache", cachemodel="words-gpt", cachetext="a", cachelength="32",
        cachelayer="99", cachehead="99", cachecell="keys.99.99",
    )  # fmt: skip
    assert sent(app, "matrix_view")["pinned"] is None


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
    monkeypatch.setattr(chapter, "chosen", lambda state: (None, ()))  # only the part on shapes
    app = fine_part("efficiency", "cache", **link)
    assert rule in boxes(app)
    ((key, value),) = link.items()
    assert [n.value for n in app.number_input if n.label == words.sizes[key]] == [int(value)]


def test_the_largest_shape_has_a_sum(monkeypatch):
    monkeypatch.setattr(chapter, "chosen", lambda state: (None, ()))
    largest = dict.fromkeys(words.sizes, "1000000")
    app = fine_part("efficiency", "cache", cachetokens="131072", cachetexts="256", **largest)
    assert "TB" in prose_of(app)


@given(
    some.integers(1, 8),
    some.integers(1, 4),
    some.integers(1, 4),
    some.integers(1, 30),
    some.integers(1, 32),
    some.integers(1, 400),
)
@settings(deadline=None)
def test_the_question_has_one_right_answer(layers, groups, share, half, length, text):
    config = GPTConfig(
        n_layer=layers, n_head=groups * share, n_kv_head=groups, n_embd=2 * half * groups * share
    )
    keys = np.zeros((layers, groups, length, config.head_size), np.float32)
    contents = CacheContents((0,) * length, length, keys, keys, keys, 2 * keys.nbytes)
    question = chapter.question(config, contents, length, text)
    lists = 4 * config.n_embd * length
    assert (question is None) == (len({text, lists, 2 * keys.nbytes}) < 3)
    if question is not None:
        values = [value for (value,) in question.values]
        assert values[question.right] == 2 * keys.nbytes
        assert length == 1 or max(values) > 2 * keys.nbytes  # too much is wrong, too


def test_sharing_is_said_where_heads_share():
    for shape in (CacheShape(2, 4, 4, 8), CacheShape(2, 4, 1, 8)):
        line = chapter.size_line(shape, 1, 1, "float32")
        assert ("times as large" in line) == (shape.heads > shape.kv_heads)


def test_a_single_head_is_not_told_to_share():
    assert "nobody to share with" in chapter.size_line(CacheShape(2, 1, 1, 8), 1, 1, "float32")
    assert "nobody" not in chapter.size_line(CacheShape(2, 4, 4, 8), 1, 1, "float32")


def test_sums_have_digits_at_both_ends():
    smallest, largest = CacheShape(1, 1, 1, 1), CacheShape(10**6, 10**6, 1, 10**6)
    assert [case.note for case in chapter.cases_of(smallest, 1, 1, "int4")[0]][:1] == ["1 B"]
    line = chapter.size_line(largest, 256, 131_072, "float32")
    assert "1,000,000 times as large" in line


def test_a_context_of_two_tokens_has_a_prefill_of_one():
    counted = works(GPTConfig(context_length=2))
    assert [batch for _, batch, _ in counted] == [1, *BATCHES]


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
    monkeypatch.setattr(chapter, "roofline_of", cached(1)(lambda *given: job))
    link = {"cachemodel": "words-gpt", "roofline": "1", "decodebatch": "2"}
    app = fine_part("efficiency", "cache", **link)
    chart = charts(app)[-1]
    decoded = chart["data"][-1]
    assert len(decoded["x"]) == len(BATCHES) and decoded["text"] == [str(b) for b in BATCHES]
    assert decoded["marker"]["size"].index(16) == 2
    near, far = chart["data"][:2]
    assert near["y"][1] == near["y"][2] == 50.0 and near["x"][1] == 2.5 and far["x"][1] == 5.0
    assert "4 texts at once are 2.0 times as fast as one text alone" in prose_of(app)
    job.state = STOPPED
    fine_part("efficiency", "cache", **link)


@pytest.mark.parametrize(
    ("factor", "words_of_it"),
    [(0.5, "times as fast as one"), (0.99, "about the same time"), (1.5, "times as long as one")],
)
def test_batches_are_called_faster_only_where_they_are(factor, words_of_it):
    line = " ".join(chapter.roof_report(measured(factor=factor), len(BATCHES) - 1))
    assert line.count("Per token") == line.count(words_of_it) == 1
    assert "at once are" not in " ".join(chapter.roof_report(measured(factor=factor), 0))


def test_nothing_is_measured_before_the_button(opened):
    assert [button.label for button in opened.button if button.label == words.start]
    assert "Measured:" not in prose_of(opened)
