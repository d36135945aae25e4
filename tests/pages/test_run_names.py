"""A run's name, whatever a file system takes, breaks no page of anybody."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from llmviz.runs import store
from tests.pages.harness import fine, open_part, unpack_all
from tests.training.tampered import healthy

# What ids of components, links, lists and markup are made with.
NAMES = ["my__run", "__a__", "a__", "a,b", "a@20", "a b", "été", "<b>x</b>", "[x](y)"]
NAMES += ["{0}", "$x$", "a%20b", "a&b=c", "~abc", "con", "x" * 200]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    for name in NAMES:
        healthy(runs / name, points=5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLMVIZ_RUNS", str(runs))
        yield runs


def test_all_are_listed_and_break_no_page_of_others(home, bundle):
    assert set(store.kept_runs()) == set(NAMES)
    for lesson, part in (("training", "curves"), ("training", "runs"), ("sampling", "pipeline")):
        fine(open_part(lesson, part))


@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_any_name_is_drawn_and_picked(home, bundle, name):
    app = open_part("training", "curves", runs=f"run:{name}")
    fine(app)
    if not {",", "@"} & set(name):  # which part names and steps
        assert len(unpack_all(app, "curve_data")) == 1
    fine(open_part("training", "runs", run=f"run:{name}"))
    fine(open_part("sampling", "pipeline", model=f"run:{name}"))
    fine(open_part("embeddings", "lookup", model=f"run:{name}"))


def menu():
    import streamlit as st

    from llmviz.course.ui import runs, selectable_models

    with st.sidebar:
        runs.search()
    st.selectbox("Model", selectable_models.offered(lambda card: True), key="chosen")


def test_of_more_runs_than_a_menu_offers_one_is_found_by_its_name(home, bundle, monkeypatch):
    app = AppTest.from_function(menu).run()
    assert not app.sidebar.text_input and "run:été" in app.selectbox[0].options
    monkeypatch.setattr("llmviz.course.ui.runs.SHOWN", 3)
    app.run()
    assert len(app.selectbox[0].options) == 3 and "run:été" not in app.selectbox[0].options
    app.sidebar.text_input[0].set_value("ÉT").run()
    fine(app)
    assert app.selectbox[0].options == ["run:été"]
    assert f"1 of {len(NAMES)} kept runs" in app.sidebar.caption[0].value
