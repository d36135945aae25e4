"""Parts of messages that browsers fetch by their address: packed once, found again, whole."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from llmviz.course.components import pack, unpack
from llmviz.course.components._shared import transport as wire
from llmviz.course.components._shared.transport import Stored
from llmviz.course.components.vector_table.view import table_picture


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
