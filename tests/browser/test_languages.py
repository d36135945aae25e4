"""The switch of languages under the hand, and what a screen reader and a new browser are told."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from llmviz.course.document import texts_of
from llmviz.course.lessons.home import words as home
from llmviz.course.ui.furniture import words as furniture


def spoken(page):
    return page.evaluate("document.documentElement.lang")


def test_a_hand_chooses_a_language_and_every_page_keeps_it(window):
    page = window.page
    window.dress("light", 1440)
    window.open()
    sidebar = page.locator("[data-testid=stSidebar]")
    sidebar.get_by_text("Español", exact=True).click()
    page.get_by_role("heading", name=texts_of(home, "es")["headline"]).wait_for()
    window.settle()
    assert "lang=es" in page.url and spoken(page) == "es"
    sidebar.get_by_role("link", name="Atención", exact=True).click()
    page.wait_for_url("**/attention?*lang=es*")
    window.settle()
    expect(page.get_by_text(texts_of(furniture, "es")["in_english"])).to_be_visible()
    sidebar.get_by_text("English", exact=True).click()
    sidebar.get_by_role("link", name="Attention", exact=True).wait_for()
    window.settle()
    assert "lang=" not in page.url and spoken(page) == "en"


def test_a_link_is_in_its_language_from_the_first_word_on_a_phone_too(window):
    page = window.page
    for language, width in (("zh", 390), ("es", 1440)):
        window.dress("dark", width)
        window.open(f"sampling?part=temperature&lang={language}")
        assert spoken(page) == language
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_chosen_option_stays_chosen_in_each_language(window):
    """A browser names it by its words, which are others after the switch."""
    page = window.page
    window.dress("light", 1440)
    window.open("tokenization?part=cut&tokenizer=trained")
    menu = page.locator("[data-testid=stSelectbox] input").first
    sidebar = page.locator("[data-testid=stSidebar]")
    for name, short in (("中文", "zh"), ("Español", "es"), ("English", "en")):
        sidebar.get_by_text(name, exact=True).click()
        page.wait_for_function(f"document.documentElement.lang === '{short}'")
        window.settle()
        expect(menu).to_have_value(re.compile(r"^trained · "))
        assert "tokenizer=trained" in page.url
        assert not page.locator("[data-testid=stException]").count()


TOUCHING = """() => {
  const within = (node) => node.shadowRoot?.querySelectorAll('.axis') ?? [];
  const axes = [...document.querySelectorAll('[data-testid=stMain] *')].flatMap((node) =>
    [...within(node), ...(node.matches('.axis') ? [node] : [])]);
  const boxes = (axis) => [...axis.children].filter((tick) => tick.checkVisibility()).map((tick) =>
    tick.getBoundingClientRect());
  return axes.flatMap(boxes).filter((box, i, all) => i && box.top === all[i - 1].top
    && box.left > all[i - 1].left && box.left < all[i - 1].right).length;
}"""


def test_the_numbers_of_a_short_axis_do_not_touch(window):
    page = window.page
    for width in (1440, 1024, 390):  # the room beside a picture is least in the middle one
        window.dress("light", width)
        window.open("attention?part=trained&lang=es", ".axis .tick >> visible=true")
        assert page.evaluate(TOUCHING) == 0, width
        shown = page.locator(".axis .tick").all_inner_texts()
        assert shown[0].startswith("0"), shown
