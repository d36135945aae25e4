"""Every page opens in a real browser without an error or a foreign request, in both themes and on a
phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Locator, TimeoutError

from benchmarks.first_screen import FIND
from llmviz.course.lessons import LESSONS
from tests.browser.conftest import Visit
from tests.browser.hand import until

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
# Each width is the smallest that people have between two at which layouts change, where texts have
# the least room. A page is as wide as its window less 460 pixels for menu and margins, from 768 on,
# and less 32 below. Layouts change at 1120 of a window, and at 860, 720 and 700, 640, 600, 560 of a
# page. So a small laptop stands for all desks, and paper for a desk at 200 % zoom, which has 720.
DESK, PHONE = 1366, 390
WINDOWS = (("light", DESK), ("dark", PHONE))
# Of a chapter's first screen, by its window's width: where its picture begins at the latest, below
# question and answers, and how much of it is in view; a lower one is wholly in view.
PICTURE = {DESK: (475, 280), PHONE: (605, 200)}
# What a first screen shows instead: where its picture begins, how much of it, the words above it.
WITHOUT = f"""([begins, seen]) => {{
    document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
    const [top, inView, words, asked, hand, whole] = ({FIND})() ?? [Infinity, 0, 0, 0, 0, 0];
    const shows = inView >= Math.min(seen, whole - 1);
    return top <= begins && shows && words <= 60 ? [] : [top, inView, words];
}}"""
# A chapter that begins with one's own paragraph and a button: its picture comes with the start.
BEGINS_WITH_A_FIELD = {"Teach"}
PAPER = 688  # pixels of CSS: a page of A4 without its margins
BETWEEN = (1280, 1024, PAPER)
# Texts that an element cuts off without a way to reach the rest, in any component.
CUT = """() => {
    const cut = [];
    const look = (root) => {
        for (const node of root.querySelectorAll("*")) {
            if (node.shadowRoot) look(node.shadowRoot);
            const over = node.scrollWidth - node.clientWidth;
            if (over < 2 || node.clientWidth < 8 || node.clientHeight < 8) continue;
            const { overflowX, visibility } = getComputedStyle(node);
            const text = node.innerText?.trim();
            if (!text || visibility === "hidden" || !/hidden|clip/.test(overflowX)) continue;
            cut.push(`${text.slice(0, 60)}: ${over} pixels`);
        }
    };
    look(document.querySelector("[data-testid=stMain]"));
    return cut;
}"""
# Targets of less than 24 pixels that a circle of 24 pixels around them does not keep from others
# (WCAG 2.2, 2.5.8). What stands within a text has an exception: a link, a piece of a text.
SMALL = (Path(__file__).parent / "small_targets.js").read_text("utf-8").partition("\n\n")[2]
# Whether another theme is drawn, or the page is wider than its window.
FITS = """(light) => {
    const app = document.querySelector('[data-testid=stApp]');
    const main = document.querySelector('[data-testid=stMain]');
    const channels = getComputedStyle(app).backgroundColor.match(/[0-9]+/g).slice(0, 3);
    const sum = channels.reduce((sum, one) => sum + Number(one), 0);
    const over = main.scrollWidth - main.clientWidth;
    return [...(sum > 600 === light ? [] : [`channels: ${sum}`]),
            ...(over <= 1 ? [] : [`too wide: ${over} pixels`])];
}"""

# axe-core, which finds what keeps people out, and what of its findings is not let pass.
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
FOUND = """async () => {
    const asked = { resultTypes: ["violations"], preload: false };
    const { violations } = await axe.run(document, asked);
    return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`));
}"""

# What is on paper that only a hand can use, pictures that may be cut between two pages, by how much
# the page is too wide, and how much of it lies in a part that scrolls.
PRINTED = """() => {
    const hands = "stSidebar stHeader stButton stDownloadButton stPageLink stPopover".split(" ");
    const all = (name) => [...document.querySelectorAll(`[data-testid=${name}]`)];
    const seen = hands.filter((name) => all(name).some((one) => one.checkVisibility()));
    const main = document.querySelector("[data-testid=stMain]");
    const drawn = main.querySelectorAll(".stPlotlyChart, .stDataFrame, [data-testid^=stBidi]");
    const cut = [...drawn].filter((one) => getComputedStyle(one).breakInside !== "avoid").length;
    const hidden = main.scrollHeight - document.documentElement.scrollHeight;
    return [seen, cut, Math.max(0, main.scrollWidth - main.clientWidth - 1), Math.max(0, hidden)];
}"""
IN_PRINT = f"() => JSON.stringify(({PRINTED})()) === '[[],0,0,0]'"


def on_paper(visit: Visit, title: str) -> None:
    """Fail if a chapter would be printed with buttons, cut pictures or less than all of it.

    The window has the width of paper.
    """
    visit.page.emulate_media(media="print")
    try:
        visit.page.wait_for_function(IN_PRINT, timeout=8000)
    except TimeoutError:
        pytest.fail(f"{title} on paper: {visit.page.evaluate(PRINTED)}")
    finally:
        visit.page.emulate_media(media="screen")


def check(visit: Visit, theme: str, width: int, title: str) -> None:
    """Fail if the page has an error, another theme, more than fits its window, a text that stays
    cut or targets too small; or if a chapter's first screen has not its picture, or too many words
    above it.

    All of it is asked at once, until it is so: a chart follows the window a moment later.
    """
    light = "true" if theme == "light" else "false"
    parts = [f"({FITS})({light})", f"({CUT})()", f"(() => {{ {SMALL} return small() }})()"]
    if title and title not in BEGINS_WITH_A_FIELD:
        parts.append(f"({WITHOUT})({list(PICTURE[width])})")
    wrong = f"() => [{', '.join(f'...{part}' for part in parts)}]"
    comes_to_nothing(visit, wrong, f"{title}, {theme}, {width}")
    visit.assert_clean()


def comes_to_nothing(visit: Visit, wrong: str, title: str) -> None:
    """Fail if a script finds something wrong for four seconds, and still does after them.

    A busy machine may not have looked again before they are over.
    """
    try:
        visit.page.wait_for_function(f"() => ({wrong})().length === 0", timeout=4000, polling=50)
    except TimeoutError:
        visit.settle()
        found = visit.page.evaluate(wrong)
        assert found == [], title


def nobody_is_kept_out(page: Any, title: str) -> None:
    """Fail if axe-core finds something serious or critical, and finds it again a moment later."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE)
    for _ in range(4):  # a text that is being drawn anew is pale for a moment
        found = page.evaluate(FOUND)
        if not found:
            return
        page.wait_for_timeout(700)
    pytest.fail(f"{title}: {found}")


@pytest.mark.parametrize("page", PAGES)
def test_page_opens_clean_in_both_themes_and_fits_a_phone(window, page):
    """A page is opened by its address, and its chapters one after the other by the button below;
    the first screen of each is its picture.

    Each stands light on a desk or dark on a phone in turn, and is then switched to the other by way
    of the widths between; in that one the next chapter is opened. The tests of the lessons open
    chapters by their links.
    """
    (lesson,) = (one for one in LESSONS if one.key == page)
    titles = [chapter.title for chapter in lesson.chapters] or [""]
    apart = lesson.further[:1]  # no button leads from the way to the first further chapter
    for number, title in enumerate(titles):
        turn = (number + PAGES.index(page)) % 2
        window.dress(*WINDOWS[turn])
        if number == 0:
            window.open("" if page == "home" else page, ".pip:visible" if page == "home" else "h1")
        elif lesson.keys[number] in apart:
            window.open(f"{page}?part={lesson.keys[number]}", "h1")
        else:
            button(window, f"Next: {title}").click()
            button(window, f"Back: {titles[number - 1]}").wait_for()
            window.settle()
        if title:
            window.page.locator("h2, [class*='st-key-lv-sta']").first.wait_for()
        check(window, *WINDOWS[turn], title)
        for width in BETWEEN if turn == 0 else reversed(BETWEEN):
            window.dress(WINDOWS[turn][0], width)
            comes_to_nothing(window, CUT, f"{title} at {width}")
            if width == PAPER:
                on_paper(window, title)
        window.dress(*WINDOWS[1 - turn])
        check(window, *WINDOWS[1 - turn], title)
        if number % 4 == PAGES.index(page) % 4:  # axe takes a second
            nobody_is_kept_out(window.page, title)


def test_the_table_of_temperature_fits_a_phone(window):
    window.dress("dark", PHONE)
    window.open("sampling?part=temperature&show=1", ".table .cell")
    over = window.page.locator(".scroll").first.evaluate("box => box.scrollWidth - box.clientWidth")
    assert over <= 1


def button(visit: Visit, name: str) -> Locator:
    """The button of a name that stands behind the name of its icon.

    Found by its text: for its role, the browser would work out the names of all there are.
    """
    return visit.page.locator("button:visible", has_text=name)


def test_a_request_to_another_host_is_noticed(visit):
    """By a name and by a number; `assert_clean` fails for it in any test."""
    visit.open("glossary")
    visit.assert_clean()
    elsewhere = ["http://foreign.example/a", "http://203.0.113.5/b"]
    visit.page.evaluate("(all) => Promise.allSettled(all.map((one) => fetch(one)))", elsewhere)
    until(visit.page, lambda: sorted(visit.foreign) == sorted(elsewhere))
