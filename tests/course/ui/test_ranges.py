"""The range of a number stands in one place: what a link may say is what its control takes."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.course.components._shared.transport import component_key
from llmviz.course.ui import codec
from llmviz.runs import store
from llmviz.training import CheckpointError
from tests.pages.harness import PAGES, boxes, fine, open_page, open_part, parts
from tests.pages.random_links import alive, random_link
from tests.sources import nodes_where

LESSONS = Path(__file__).parents[3] / "llmviz" / "course" / "lessons"
NUMBERS = ("slider", "number_input")


def controls():
    """Every slider and box for a number that is tied to a control of a link."""
    for path, node in nodes_where(sorted(LESSONS.rglob("*.py")), *NUMBERS):
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if named and node.func.attr in NUMBERS:
            yield f"{path.relative_to(LESSONS)}:{node.lineno}", node


def spread(call):
    """The names of the functions whose answers a call takes with two stars."""
    answers = [word.value for word in call.keywords if word.arg is None]
    functions = [answer.func for answer in answers if isinstance(answer, ast.Call)]
    return [one.attr if isinstance(one, ast.Attribute) else one.id for one in functions]


def test_no_control_of_a_link_types_its_range_a_second_time():
    calls = dict(controls())
    assert len(calls) > 30
    for where, call in calls.items():
        given = {word.arg for word in call.keywords}
        assert "bind" not in spread(call), f"{where} takes its range from elsewhere: use ranged"
        if "ranged" in spread(call):
            assert len(call.args) == 1, f"{where} types a range beside that of its link"
            assert not given & {"min_value", "max_value", "value"}, where


def page_params(monkeypatch, page):
    """The controls of a page, as it declares them."""
    from llmviz.course.ui import state

    found = {}
    original = state.PageState.__init__

    def noted(self, name, params):
        found.update({param.key: param for param in params})
        original(self, name, params)

    monkeypatch.setattr(state.PageState, "__init__", noted)
    open_page(page)
    monkeypatch.setattr(state.PageState, "__init__", original)
    return found


@pytest.mark.slow  # every chapter with its largest numbers
@pytest.mark.parametrize("page", PAGES)
def test_both_ends_of_every_range_are_links_that_open(page, monkeypatch, bundle):
    """All numbers of a page at their lower ends, then all at their upper ends, in each chapter.

    Numbers of the form for a run are left out: it computes what a run of that size would cost.
    """
    params = page_params(monkeypatch, page)
    ranged = [one for one in params.values() if one.low is not None and one.key[:2] != "r_"]
    for end in ("low", "high"):
        link = {one.key: one.write(getattr(one, end)) for one in ranged}
        for part in parts(page):
            fine(open_page(page, **link, **({"part": part} if part else {})))


SEEDS = int(os.environ.get("LLMVIZ_LINKS", "16"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_link_opens_and_nothing_in_it_comes_alive(seed, bundle):
    """`LLMVIZ_LINKS=2000 pytest tests/course/ui/test_ranges.py -k random` searches further."""
    page, part, link = random_link(seed)
    app = open_part(page, part, **link)
    fine(app)
    assert alive(app) == []


def test_a_number_beyond_what_the_model_has_becomes_the_nearest_and_the_page_says_so():
    def page():
        import streamlit as st

        from llmviz.course.ui import codec
        from llmviz.course.ui.state import page_state

        st.session_state["_through_app"] = True
        state = page_state("p", [codec.integer("row", 3, -1, 99)])
        st.number_input("Row", **state.ranged("row", least=0, most=4))

    app = AppTest.from_function(page)
    app.query_params["row"] = "50"
    app.run()
    fine(app)
    assert app.number_input[0].value == 4 and "row = 50 does not exist here" in boxes(app)
    app.query_params["row"] = "-1"
    app.run()
    assert app.number_input[0].value == 0


def test_a_control_without_a_range_is_no_slider():
    from llmviz.course.ui.state import PageState

    with pytest.raises(TypeError, match="without a range"):
        PageState("p", [codec.text("words", "")]).ranged("words")


NAMES = ("run:" + "x" * 300, "run:x@" + "7" * 4_400, "run:\ud800", "run:a/" + "b" * 254, "run:@")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_no_folder_can_have_is_no_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    with pytest.raises(CheckpointError):
        store.find_run(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.isascii()])
@pytest.mark.parametrize(
    ("page", "control", "part"),
    [
        ("training", "run", "runs"),
        ("training", "runs", "curves"),
        ("training", "tmodel", "backprop"),
        ("sampling", "model", "pipeline"),
        ("attention", "model", "heads"),
        ("embeddings", "model", "lookup"),
        ("home", "model", ""),
    ],
)
def test_a_page_says_so_in_one_line(page, control, part, name, bundle):
    link = {control: name} | ({"part": part} if part else {})
    fine(open_page(page, **link))


def test_keys_of_components_are_safe_and_different():
    from hypothesis import given
    from hypothesis import strategies as some

    names = some.text(alphabet="a_~/12.", max_size=6)

    @given(some.tuples(names, names), some.tuples(names, names))
    def check(first, second):
        assert "__" not in component_key(*first)
        assert (component_key(*first) == component_key(*second)) == (first == second)

    check()


@pytest.mark.parametrize("name", ["con", "NUL.txt", "Com1", "lpt9.a.b", "aux", "prn."])
def test_names_that_windows_keeps_for_devices_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    with pytest.raises(ValueError, match="cannot be the name of a run"):
        store.free_name(name)
    assert store.free_name("console") == "console" and store.free_name("com10") == "com10"
