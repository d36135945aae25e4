"""Every page opens in a real browser, in both themes, without an error or a foreign request."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import make_visit, start_app
from tests.pages.harness import parts

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_page_opens_clean(browser, app_url, page, theme):
    visit = make_visit(browser, app_url, theme)
    for part in parts(page):
        visit.open(("" if page == "home" else page) + (f"?part={part}" if part else ""))
        visit.page.wait_for_timeout(500)
        visit.settle()
        visit.assert_clean()
    background = visit.page.evaluate(
        "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    channels = [int(part) for part in background.strip("rgb()").split(",")[:3]]
    assert (sum(channels) > 600) == (theme == "light")
    visit.page.context.close()


@pytest.mark.parametrize("page", PAGES)
def test_page_fits_a_phone(browser, app_url, page):
    visit = make_visit(browser, app_url, width=390)
    for part in parts(page):
        visit.open(("" if page == "home" else page) + (f"?part={part}" if part else ""))
        wider = visit.page.evaluate(
            "() => { const main = document.querySelector('[data-testid=stMain]');"
            " return main.scrollWidth - main.clientWidth; }"
        )
        assert wider <= 1, part
    visit.page.context.close()


def test_first_visitor_of_a_fresh_server_may_open_a_lesson_by_its_link(browser):
    server, url = start_app()
    try:
        visit = make_visit(browser, url)
        visit.open("glossary?find=softmax")
        visit.page.wait_for_function(
            "() => document.querySelector('[data-testid=stSidebar]')"
            "?.innerText.includes('The whole machine')",
            timeout=20_000,
        )
        assert visit.page.locator("input[type=text]").input_value() == "softmax"
        visit.assert_clean()
        visit.page.context.close()
    finally:
        server.terminate()
        server.wait(timeout=20)
