"""The app on the Streamlit before the pinned one, and on the newest: pages, and a real server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, app, make_visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Opens every chapter without a browser, and writes those that fail.
OPENS_ALL = """
from tests.pages.harness import PAGES, open_part, parts
for page in PAGES:
    for part in parts(page):
        for error in open_part(page, part).exception:
            print(page, part, error.value)
"""


@pytest.fixture(scope="module", params=["==1.66.*", ">=1.66"], ids=["before", "newest"])
def other(request, tmp_path_factory) -> Path:
    """The folder of another Streamlit, which stands before the installed one."""
    # Anywhere else Streamlit takes itself for a developer's copy.
    folder = tmp_path_factory.mktemp("streamlit") / "site-packages"
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder)]
    done = subprocess.run(
        [*install, f"streamlit{request.param}"], capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        pytest.skip(f"Streamlit {request.param} cannot be installed here: {done.stderr[-200:]}")
    (about,) = folder.glob("streamlit-*.dist-info")
    if about.name == f"streamlit-{streamlit.__version__}.dist-info":
        pytest.skip("the newest Streamlit is the one that all tests run on")
    return folder


def before(folder: Path) -> str:
    """Return where Python looks first for what it imports."""
    return f"{folder}{os.pathsep}{ROOT}"


def test_every_chapter_opens(other):
    environment = {**os.environ, "PYTHONPATH": before(other)}
    done = subprocess.run(
        [sys.executable, "-c", OPENS_ALL],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == ""


def test_the_server_serves_it_and_a_control_answers(other, browser):
    with app(PYTHONPATH=before(other)) as url:
        visit = make_visit(browser, url)
        visit.open("sampling?part=temperature", "[class*='st-key-lv-sta']")
        visit.page.get_by_role("slider").first.press("ArrowRight")
        expect(visit.page).not_to_have_url(f"{url}/sampling?part=temperature")
        visit.settle()
        assert visit.foreign == [] and not visit.page.locator(".stException").count()
        visit.page.context.close()
