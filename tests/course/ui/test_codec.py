"""What a control writes into a link it reads back; a text has the limit of its control."""

from __future__ import annotations

import ast
import base64
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from llmviz.course.ui import codec
from tests.course.ui.test_ranges import LESSONS, spread
from tests.pages.harness import boxes, fine
from tests.sources import nodes_where

TEXT = codec.text("text", "", codec.MOST_OF_A_TEXT)


@settings(max_examples=200, deadline=None)
@given(some.text(alphabet=some.characters(exclude_categories=["Cs"]), max_size=400))
def test_a_text_comes_back_from_its_link(text):
    assert TEXT.read(TEXT.write(text)) == text


def test_a_long_text_is_compressed_and_comes_back():
    text = "The cat sat on the mat. " * 400
    written = TEXT.write(text)
    assert len(written) < len(text) / 10
    assert TEXT.read(written) == text


def test_a_text_too_long_for_a_link_says_so():
    text = "".join(chr(0x4E00 + i * 7919 % 20000) for i in range(20_000))
    assert TEXT.write(text) is None


def test_a_text_that_its_link_could_not_unpack_is_left_out():
    assert TEXT.write("a" * 2_000_000) is None


@pytest.mark.parametrize("damaged", ["~", "~abc", "~!!!!", "~" + "A" * 40])
def test_a_damaged_text_is_refused(damaged):
    with pytest.raises(ValueError, match="the text in the link is"):
        TEXT.read(damaged)


def packed(text):
    raw = zlib.compress(text.encode())
    return "~" + base64.urlsafe_b64encode(raw).decode().rstrip("=")


@pytest.mark.parametrize("letter", ["a", "é", "語", "🙂"])
def test_a_text_of_its_limit_comes_back_and_a_longer_one_is_refused(letter):
    param = codec.text("word", "", 300)
    assert param.read(param.write(letter * 300)) == letter * 300
    assert param.write(letter * 301) is None
    with pytest.raises(ValueError, match="too long; 300 characters are read"):
        param.read(packed(letter * 301))


def test_a_small_link_is_not_unpacked_into_a_huge_text(monkeypatch):
    unpacked = []

    class Counting:
        def __init__(self):
            self.unpacker = unpack()

        def decompress(self, raw, most=0):
            unpacked.append(self.unpacker.decompress(raw, most))
            return unpacked[-1]

        def __getattr__(self, name):
            return getattr(self.unpacker, name)

    bomb, unpack = packed("a" * 30_000_000), zlib.decompressobj
    monkeypatch.setattr(codec.zlib, "decompressobj", Counting)
    with pytest.raises(ValueError, match="too long; 200 characters are read"):
        codec.text("word", "").read(bomb)
    assert sum(map(len, unpacked)) <= 4 * 200 + 1


@given(some.integers(-5, 5))
def test_integers_come_back(value):
    param = codec.integer("n", 0, -5, 5)
    assert param.read(param.write(value)) == value


@given(some.floats(0, 5))
def test_numbers_come_back_exactly(value):
    param = codec.number("t", 1.0, 0, 5)
    assert param.read(param.write(value)) == value


@pytest.mark.parametrize(
    ("param", "written"),
    [
        (codec.integer("n", 0, 1, 9), "0"),
        (codec.integer("n", 0, 1, 9), "3.5"),
        (codec.integer("n", 0, 1, 9), ""),
        (codec.number("t", 1, 0, 5), "nan"),
        (codec.number("t", 1, 0, 5), "inf"),
        (codec.number("t", 1, 0, 5), "5.1"),
        (codec.flag("f", False), "yes"),
        (codec.choice("c", "a", ["a", "b"]), "c"),
        (codec.choices("c", ["a"], ["a", "b"]), "a,z"),
        (codec.choices("c", ["a"], ["a", "b"]), "a,a"),
        (codec.choices("c", ["a"], ["a", "b"], at_least=1), ""),
        (codec.names("n", [], 2, "two different names are needed"), "x,y,z"),
        (codec.names("n", [], 2, "two different names are needed"), "x,x"),
        (codec.integers("n", [], 0, 9), "1,x"),
        (codec.integers("n", [], 0, 9, at_most=2), "1,2,3"),
    ],
)
def test_what_breaks_the_rule_is_refused(param, written):
    with pytest.raises(ValueError, match="needed"):
        param.read(written)


def test_lists_and_flags_come_back():
    for param, value in [
        (codec.flag("f", False), True),
        (codec.choices("c", [], ["a", "b"]), ["b", "a"]),
        (codec.names("n", [], 2, ""), ["Käse", "a.b"]),
        (codec.integers("n", [], 0, 9), [3, 1, 3]),
    ]:
        assert param.read(param.write(value)) == value


def test_names_that_are_too_long_for_a_link_are_not_written():
    few = codec.names("n", [], 2, "", longest=5)
    assert few.write(["ab", "cd"]) == "ab,cd" and few.write(["ab", "cde"]) is None


def page():
    import streamlit as st

    from llmviz.course.ui import codec
    from llmviz.course.ui.state import page_state
    from llmviz.course.ui.text_field import text_area, text_input

    st.session_state["_through_app"] = True
    state = page_state("p", [codec.text("word", "", 5), codec.text("story", "", 8)])
    text_input(state, "word", "Word")
    text_area(state, "story", "Story")
    st.code(state["word"] + "|" + state["story"])
    state.show_problems()


def test_what_is_typed_beyond_the_limit_stays_in_the_field_and_the_page_says_what_is_read():
    app = AppTest.from_function(page).run()
    app.text_input[0].set_value("abcdefg").run()
    app.text_area[0].set_value("12345678").run()
    fine(app)
    assert app.text_input[0].value == "abcdefg" and app.code[0].value == "abcde|12345678"
    assert "holds 7 characters. The first 5 of them are read" in boxes(app)
    assert "holds 8" not in boxes(app)
    assert app.query_params == {"story": "12345678"}


def test_a_field_that_is_half_full_says_under_it_how_much_it_may_hold():
    app = AppTest.from_function(page).run()
    app.text_area[0].set_value("1234").run()
    assert not app.caption
    app.text_area[0].set_value("12345").run()
    assert [one.value for one in app.caption] == ["5 of at most 8 characters."]
    app.text_area[0].set_value("123456789").run()
    assert not app.caption and "The first 8 of them are read" in boxes(app)


def test_a_packed_text_above_the_limit_is_refused_and_the_page_says_so():
    app = AppTest.from_function(page)
    app.query_params["word"] = packed("abcdefg")
    app.run()
    fine(app)
    assert app.text_input[0].value == "" and "5 characters are read" in boxes(app)


def test_a_longer_text_that_is_not_packed_stays_in_its_field():
    app = AppTest.from_function(page)
    app.query_params["word"] = "abcdefg"
    app.run()
    fine(app)
    assert app.text_input[0].value == "abcdefg" and app.code[0].value == "abcde|"


def test_no_chapter_reads_less_of_a_text_than_its_field_says():
    """A cut of its own would be a second limit, of which nothing stands under the field."""
    for path, node in nodes_where(sorted(LESSONS.rglob("*.py")), "state["):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            held = ast.unparse(node.value)
            assert not held.startswith("state['"), f"{path.name}:{node.lineno} cuts {held}"


def test_every_field_of_a_control_says_its_limit():
    fields = {"text_input", "text_area"}
    limited = 0
    for path, node in nodes_where(sorted(LESSONS.rglob("*.py")), *fields):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            ours = called.removeprefix("kit.") in fields
            limited += ours
            if not ours and isinstance(node.func, ast.Attribute) and node.func.attr in fields:
                where = f"{path.name}:{node.lineno}"
                assert "bind" not in spread(node), f"{where}: use llmviz.course.ui.text_field"
    assert limited > 40
