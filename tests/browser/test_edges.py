"""No text of a chapter's first picture is cut by an edge, on a desk, a projector or a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from llmviz.course.lessons import LESSONS
from tests.browser.conftest import make_visit

SCRIPT = Path(__file__).with_name("edges.js").read_text("utf-8")
WIDTHS = (1440, 1024, 390)
HOME = ""
PLACES = [HOME, *(f"{one.key}?part={key}" for one in LESSONS for key in one.keys)]
STAGE = "[class*='st-key-lv-sta'], .st-key-home-machine"


@pytest.fixture(scope="module")
def watched(browser, app_url):
    """A window that notes what is written on its canvases."""
    visit = make_visit(browser, app_url)
    visit.page.add_init_script(f"{SCRIPT}; watchCanvases()")
    yield visit
    visit.page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_no_text_of_a_first_picture_is_cut_by_an_edge(watched, place):
    page = watched.page
    page.goto("about:blank")
    watched.dress("light", WIDTHS[0])
    watched.open(place)
    stage = page.locator(STAGE).first
    cut = {}
    for width in WIDTHS:
        watched.dress("light", width)
        watched.settle()
        page.wait_for_timeout(100)  # a picture follows its width at the next frames
        if texts := stage.evaluate(f"(stage) => {{ {SCRIPT}; return textsOutside(stage); }}"):
            cut[width] = texts
    assert cut == {}
