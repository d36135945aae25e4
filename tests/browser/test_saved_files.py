"""README's options for who changes the code do what README says of them."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, app

pytestmark = pytest.mark.slow  # of the second tier

TIMES = 6
PAGE = Path("llmviz") / "course" / "lessons" / "glossary" / "page.py"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the program, with what is compiled of it; the data are those of the project."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("llmviz", "pages", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "app.py", folder)
    (folder / "data").symlink_to(ROOT / "data", target_is_directory=True)
    return folder


@pytest.fixture(scope="module")
def address(project):
    readme = (ROOT / "docs" / "INSTALL.md").read_text("utf-8")
    (options,) = re.findall(r"`(--server\.fileWatcherType auto[^`]*)`", readme)
    options = shlex.split(options)
    with app(project / "app.py", folder=project, options=options, ahead=False) as url:
        yield url


def test_an_open_page_runs_again_when_a_python_file_is_saved(visit, project):
    visit.open("glossary")
    before = visit.page.get_by_label("Find a term")
    expect(before).to_be_visible()
    file = project / PAGE
    text = file.read_text("utf-8").replace("words.find", '"Look for a term"')
    after = visit.page.get_by_label("Look for a term")
    visit.page.reload()
    expect(before).to_be_visible()
    for number in range(TIMES):  # the watching begins some time after the page is there
        file.write_text(f"{text}\n# saved {number} times before\n", "utf-8")
        with contextlib.suppress(AssertionError):
            expect(after).to_be_visible(timeout=10_000)
            break
    expect(after).to_be_visible()
    expect(before).to_have_count(0)
