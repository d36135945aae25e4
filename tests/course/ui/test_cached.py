"""What is computed or packed once for all visitors: counted, whoever asks, found again, whole."""

from __future__ import annotations

import gc
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Event

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
import pytest
import torch
from plotly.tools import return_figure_from_figure_or_data

from llmviz.course.components import pack, unpack
from llmviz.course.components._shared import transport as wire
from llmviz.course.components._shared.transport import Stored
from llmviz.course.components.vector_table.view import table_picture
from llmviz.course.ui.cached import MEGABYTE, cached, share, size_of
from llmviz.tokenizers import get_tokenizer


def test_nothing_is_computed_twice_for_the_same_arguments():
    calls = []

    @cached(8)
    def squared(x):
        calls.append(x)
        return x * x

    assert [squared(x) for x in (2, 3, 2, 3, 2)] == [4, 9, 4, 9, 4]
    assert calls == [2, 3]
    squared.clear()
    assert squared(2) == 4 and calls == [2, 3, 2]


def test_one_result_is_forgotten_and_the_others_stay():
    calls = []

    @cached(8)
    def squared(x):
        calls.append(x)
        return x * x

    assert squared(2) + squared(3) == 13
    squared.forget(2)
    squared.forget(7)  # which was never asked for
    assert squared(2) + squared(3) == 13 and calls == [2, 3, 2]


def test_a_key_of_its_own_stands_for_arguments_that_are_not_kept():
    calls = []

    @cached(2, key=lambda name, values: name)
    def total(name, values):
        calls.append(name)
        return sum(values)

    assert total("a", [1, 2]) == 3 and total("a", [1, 2]) == 3  # a list cannot be hashed
    assert total("b", [5]) == 5 and calls == ["a", "b"]
    total.forget("a", [])
    assert total("a", [1, 2]) == 3 and calls == ["a", "b", "a"]


def test_who_asks_while_it_is_computed_waits_for_it():
    calls, together = [], Barrier(8)

    @cached(8)
    def slow(x):
        calls.append(x)
        Event().wait(0.05)
        return object()

    def ask(x):
        together.wait()
        return slow(x)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, [1, 2] * 4))
    assert sorted(calls) == [1, 2]
    assert len(set(map(id, answers))) == 2


def test_the_longest_unused_result_goes_first():
    calls = []
    plain = cached(2)(lambda x: calls.append(x))
    for x in (1, 2, 1, 3, 1, 2):
        plain(x)
    assert calls == [1, 2, 3, 2]
    with pytest.raises(ValueError, match="at least one"):
        cached(0)


def test_what_fails_is_tried_again():
    calls = []

    @cached(2)
    def once_bad(x):
        calls.append(x)
        if len(calls) == 1:
            raise ValueError("not yet")
        return x

    with pytest.raises(ValueError, match="not yet"):
        once_bad(1)
    assert once_bad(1) == once_bad(1) == 1
    assert calls == [1, 1]


def test_nobody_writes_into_what_others_see():
    @dataclass(frozen=True)
    class Pair:
        one: np.ndarray
        more: list

    made = cached(1)(lambda: (Pair(np.zeros(2), [np.zeros(2)]), {"a": np.zeros(2)}))()
    for array in (made[0].one, made[0].more[0], made[1]["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_kept_figure_is_written_out_once_and_is_what_it_was(monkeypatch):
    written = []
    to_dict = go.Figure.to_dict
    monkeypatch.setattr(go.Figure, "to_dict", lambda self: written.append(1) or to_dict(self))

    def drawn() -> go.Figure:
        values = np.linspace(0, 1, 40)
        return go.Figure(go.Scatter(x=values, y=values**2), layout={"title": "a curve"})

    figure, pair = cached(1)(drawn)(), cached(1)(lambda: (drawn(), "and a word"))()
    assert len(written) == 2
    fresh = pio.to_json(drawn())
    written.clear()
    for _ in range(3):
        assert pio.to_json(figure, validate=False) == fresh == pio.to_json(pair[0])
        assert return_figure_from_figure_or_data(figure, validate_figure=True)["data"]
    assert written == []


def test_all_results_together_have_a_budget_and_the_longest_unused_go(monkeypatch):
    monkeypatch.setattr("llmviz.course.ui.cached._sizes", OrderedDict())
    monkeypatch.setenv("LLMVIZ_KEPT_MB", "3")
    calls = []

    def large(x):
        calls.append(x)
        return np.zeros(MEGABYTE, np.uint8), x

    first, second = cached(8)(large), cached(8)(large)
    first(1), second(2), first(1), second(3)  # two functions have one budget
    assert calls == [1, 2, 3]
    first(1), second(3)
    assert calls == [1, 2, 3], "of all the results the second one was unused for longest"
    second(2)
    assert calls == [1, 2, 3, 2]
    monkeypatch.setenv("LLMVIZ_KEPT_MB", "1")
    assert second(7) is second(7), "one that is larger than the budget stays until the next"


def test_what_is_forgotten_or_pushed_out_counts_no_more(monkeypatch):
    sizes = OrderedDict()
    monkeypatch.setattr("llmviz.course.ui.cached._sizes", sizes)
    few = cached(2)(lambda x: "a" * x)
    for x in (1, 2, 3):
        few(x)
    assert [key for _, key in sizes] == [(2,), (3,)]
    few.forget(2)
    assert [key for _, key in sizes] == [(3,)]
    few.clear()
    assert not sizes


def test_what_a_visitor_wrote_counts_too_where_a_result_is_found_by_it(monkeypatch):
    sizes = OrderedDict()
    monkeypatch.setattr("llmviz.course.ui.cached._sizes", sizes)
    longer = cached(2)(lambda text, ids: len(text))
    longer("a" * 50_000, (1, 2, 3))
    assert 50_000 <= sum(sizes.values()) < 51_000


def test_a_size_counts_what_a_result_holds_once():
    array = np.zeros(10_000)
    assert 80_000 <= size_of([array, array, {"a": array}]) < 81_000
    assert size_of(go.Figure(go.Scatter(y=array))) >= 80_000
    assert size_of(list(range(1000))) >= 28_000
    assert size_of(get_tokenizer("bpe").tokens("the cat sat " * 100)) >= 300 * 150
    assert size_of({f"{i:050}": ["b" * 50] for i in range(1000)}) >= 190_000
    word = "a word that stands in a corpus many times"
    assert size_of([[word] * 1000, {word: 1000}]) < 1000 * 8 + 1000
    layer = torch.nn.Linear(100, 100)
    assert size_of(layer) >= 40_400
    circle = []
    circle.append(circle)
    assert size_of(circle) < 1000 and size_of(None) < 100


def test_a_message_holds_the_address_and_reads_as_if_it_held_the_part():
    numbers = np.arange(50_000, dtype=np.float32)
    part = Stored({"numbers": numbers, "name": "part"})
    message = pack({"name": "payload", "own": np.int32([1])}, part)
    assert len(message) < 200 < len(part.data)
    read = unpack(message)
    assert np.array_equal(read["numbers"], numbers) and read["own"].tolist() == [1]
    assert read["name"] == "payload"  # what the message says itself goes before its parts
    assert set(read) == {"numbers", "name", "own"}


def test_a_part_is_packed_once_and_its_address_tells_its_content(monkeypatch):
    packed = []
    pack_ = wire.pack
    monkeypatch.setattr(wire, "pack", lambda *given: packed.append(1) or pack_(*given))
    part, same, other = (Stored({"x": np.float32([x])}) for x in (1, 1, 2))
    assert len(packed) == 3
    assert [part.address() for _ in range(3)] == [same.address()] * 3
    assert other.address() != part.address()
    assert len(packed) == 3


def test_nothing_holds_a_part_that_nobody_keeps():
    part = Stored({"x": np.zeros(9, dtype=np.float32)})
    message = pack({}, part)
    assert unpack(message)["x"].size == 9
    del part
    gc.collect()
    with pytest.raises(KeyError):
        unpack(message)


def test_a_table_travels_by_its_address():
    rows = np.random.default_rng(0).normal(size=(500, 64))
    picture = table_picture(rows, [str(i) for i in range(500)])
    read = unpack(pack({"table": "key"}, picture.stored))
    assert np.allclose(read["half"].view("<f2"), rows, atol=1e-2) and read["rows"] == 500
    assert len(pack({"table": "key"}, picture.stored)) < 200 < picture.half.nbytes


def test_a_model_that_all_share_has_no_part_of_the_budget(monkeypatch):
    """One of 540 MB would push out whatever else was kept, and be read anew at each rerun."""
    sizes = OrderedDict()
    monkeypatch.setattr("llmviz.course.ui.cached._sizes", sizes)
    monkeypatch.setenv("LLMVIZ_KEPT_MB", "1")
    calls = []

    def load(name):
        calls.append(name)
        return share(torch.nn.Linear(1000, 1000))

    loaded, told = (
        cached(2, counted=False)(load),
        cached(4)(lambda name: [loaded(name), "a" * 1000]),
    )
    told("one"), told("two")
    assert sum(sizes.values()) < 10_000 and len(sizes) == 2
    assert told("one")[0] is loaded("one") and calls == ["one", "two"]
    assert size_of(torch.nn.Linear(1000, 1000)) > 4_000_000  # one that is somebody's own counts
