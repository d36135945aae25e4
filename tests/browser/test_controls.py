"""A control of Streamlit's does what the hand says, by mouse and by touch, whatever scripts of ours
the page holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator

from llmviz.course.lessons import LESSONS
from tests.browser.conftest import Visit, make_visit

CHAPTERS = [
    (lesson.key, chapter.key)
    for lesson in LESSONS
    if lesson.key != "home"
    for chapter in lesson.chapters
]
# A chapter with the guard of text boxes and a menu, one whose menus have a field each, and one with
# a menu of several.
GUARDED = [("training", "loss"), ("training", "runs"), ("tokenization", "compare")]
MENUS = "[data-testid=stSelectbox], [data-testid=stMultiSelect]"
# One of several, a switch: the part that is pressed, while it is off.
OFF = (
    "[data-testid=stButtonGroup] [role=radio][aria-checked=false]",
    "[data-testid=stRadioOption]:not(:has(input:checked))",
    "[data-testid=stCheckbox] label:not(:has(input:checked))",
)


@pytest.fixture(params=["mouse", "touch"])
def hand(request: pytest.FixtureRequest, browser: Any, app_url: str) -> Iterator[Visit]:
    """A window in which `press` presses by mouse, or by finger."""
    touch = request.param == "touch"
    visit = make_visit(browser, app_url, touch=touch)
    visit.press = Locator.tap if touch else Locator.click
    yield visit
    visit.page.context.close()


def choose(visit: Visit, menu: Locator) -> str:
    """Choose another option of a menu; returns what it says, or nothing where there is no other."""
    menu.scroll_into_view_if_needed()
    visit.press(menu.locator("[aria-haspopup=listbox]"))
    options = visit.page.locator("[data-key][role=option]")
    options.first.wait_for()
    others = options.and_(visit.page.locator("[aria-selected=false]"))
    if not others.count():
        visit.page.keyboard.press("Escape")
        return ""
    text = others.last.inner_text()
    visit.press(others.last)
    visit.settle()
    return text.split("\n")[0]


def unchanged(visit: Visit, page: str, part: str) -> list[str]:
    """Change each menu that stands open in a chapter, and one control of each other kind; returns
    those that stayed as they were, or of which the address says nothing."""
    visit.open(f"{page}?part={part}")
    stayed = []
    labels = visit.page.locator(MENUS).filter(visible=True).locator("[data-testid=stWidgetLabel]")
    for label in labels.all_inner_texts():
        menu = visit.page.locator(MENUS).filter(has_text=label).first
        if not menu.is_visible() or menu.locator("input").is_disabled():
            continue  # it left with what another menu chose
        before = visit.page.url
        text = choose(visit, menu)
        if text and text not in menu.locator("input").input_value() + menu.inner_text():
            stayed.append(f"{label}: {text}")
        elif text and visit.page.url == before:
            stayed.append(f"{label}: not in the address")
    for kind in OFF:
        off = visit.page.locator(kind).filter(visible=True)
        # An example may be what is there already, so that nothing is left to change.
        if off.count() and not (takes(visit, off.first, kind) or takes(visit, off.last, kind)):
            stayed.append(f"{kind}: {off.first.inner_text()}")
    return stayed


def takes(visit: Visit, control: Locator, kind: str) -> bool:
    """Press a control that is off; returns whether it is on then, or the address is another."""
    text, before = control.inner_text(), visit.page.url
    visit.press(control)
    visit.settle()
    on = visit.page.locator(kind.replace("false", "true").replace(":not(", ":is("))
    return before != visit.page.url or on.filter(has_text=text).count() > 0


@pytest.mark.parametrize(("page", "part"), GUARDED)
def test_a_menu_takes_what_is_pressed(hand, page, part):
    assert unchanged(hand, page, part) == []
    hand.assert_clean()


@pytest.mark.slow
@pytest.mark.parametrize(("page", "part"), CHAPTERS)
def test_every_menu_of_every_chapter_takes_what_is_pressed(hand, page, part):
    assert unchanged(hand, page, part) == []
    hand.assert_clean()
