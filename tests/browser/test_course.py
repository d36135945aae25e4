"""The search under the hand, and what the visitor's own browser keeps of the way."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons import LESSONS
from llmviz.course.ui.guess_drawn import words
from tests.browser.conftest import make_visit
from tests.browser.hand import until

CHAPTERS = sum(len(lesson.keys) for lesson in LESSONS)
SO_FAR = f"Chapters opened: 1 of {CHAPTERS}. Questions answered: {{}}."


@pytest.fixture
def line(window):
    """Returns what stands under the search: what was opened and answered."""
    return lambda: window.page.locator(".so-far").inner_text(timeout=2000)


def ctrl_k(page):
    """Press the keys of the search, which are heard from when it stands in the page."""
    page.locator(".find-opener").wait_for(state="attached")
    page.keyboard.press("Control+k")


def test_the_search_leads_to_a_term_by_hand_it_to_where_it_is_seen_and_keys_to_a_chapter(window):
    page = window.page
    window.dress("dark", 390)
    held = []
    page.route("**/media/*.bin", lambda route: held.append(route))  # the index is not here yet
    window.open("sampling?part=dice")
    page.evaluate("window.stays = true")
    ctrl_k(page)
    until(page, lambda: bool(held))
    page.unroute("**/media/*.bin")  # what was held goes on
    page.locator("dialog input").fill("softmax")
    page.get_by_role("option", name="softmax").first.click()
    page.wait_for_url("**/glossary?find=softmax")
    window.settle()

    # a term leads to where it is seen
    term = page.locator(".lv-prose p").filter(has=page.get_by_text("softmax", exact=True))
    expect(term.locator(".lv-bars i").first).to_be_visible()
    term.locator("a").click()
    page.wait_for_url("**/attention?part=steps*asking=0*")
    page.get_by_role("heading", name="How does a word know where to look?").wait_for()
    window.settle()

    # a chapter is found by keys alone
    window.dress("light", 1440)
    ctrl_k(page)
    box = page.get_by_role("combobox", name="Find a chapter or a term")
    box.wait_for()
    box.fill("not read the next word")
    page.keyboard.press("Enter")
    page.wait_for_url("**/attention?*part=masks*")
    page.get_by_role("heading", name="Why must a model not read the next word?").wait_for()
    window.settle()
    ctrl_k(page)
    page.keyboard.press("Escape")
    assert not page.locator("dialog").is_visible()
    assert page.evaluate("window.stays")  # all in one session
    window.assert_clean()


def test_a_chapter_opens_at_its_top_however_far_down_the_link_stood(window):
    page, scrolled = window.page, "document.querySelector('[data-testid=stMain]').scrollTop"
    window.open("embeddings?part=word2vec")
    button = page.get_by_role("button", name="Next: ")
    button.scroll_into_view_if_needed()
    assert page.evaluate(scrolled) > 300
    button.click()
    page.wait_for_url("**part=positions*")
    window.settle()
    assert page.evaluate(scrolled) == 0
    window.open("embeddings?part=maps")
    page.get_by_role("button", name="Next lesson: ").click()
    page.wait_for_url("**/history*")
    window.settle()
    assert page.evaluate(scrolled) == 0
    window.dress("light", 390)
    window.open("sampling?part=temperature&course=hour")
    page.get_by_role("button", name="The end: your sentence").click()
    page.wait_for_url("**end=1*")
    window.settle()
    assert page.evaluate(scrolled) == 0
    page.get_by_role("button", name="Ten lessons").click()
    page.wait_for_url("**/history?part=where*course=course*")
    window.assert_clean()


def test_an_old_link_to_a_joined_chapter_shows_its_section_and_other_chapters_begin_at_their_top(
    window,
):
    page = window.page
    window.open("tokenization?part=windows")  # which has been a chapter of Training since
    page.wait_for_url("**/training?part=loss*")
    window.settle()
    assert 0 < top(window, ".st-key-lv-sought h2") < 120
    page.get_by_role("button", name="Next: ").click()
    page.wait_for_url("**part=curves*")
    window.settle()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    window.assert_clean()


def test_a_hand_ends_at_once_what_follows_the_section_of_an_old_link(window):
    """Else it would pull the next page down, which that hand has opened."""
    page = window.page
    page.goto(f"{window.url}/tokenization?part=windows")
    page.wait_for_selector(".st-key-lv-sought h2")
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop > 100")
    after = page.evaluate(
        """async () => {
          const main = document.querySelector('[data-testid=stMain]');
          dispatchEvent(new PointerEvent('pointerdown'));
          main.scrollTo({ top: 0, behavior: 'instant' });
          await new Promise((done) => setTimeout(done, 300));
          return main.scrollTop;
        }"""
    )
    assert after == 0
    window.settle()
    window.assert_clean()


@pytest.mark.parametrize("place", ["training?part=optimizers", "reasoning?part=distillation"])
def test_all_chapters_of_a_lesson_are_names_in_view_or_a_row_that_scrolls_to_the_chosen(
    window, place
):
    """No name is drawn wider than its words need."""
    lesson = next(one for one in LESSONS if place.startswith(one.key))
    for width in (1440, 1024, 390):
        window.dress("light", width)
        window.open(place)
        chosen = "[class*='-part-'] [role=radiogroup] [data-selected=true]"
        window.page.wait_for_function(f'document.querySelector("{chosen}")')
        row = window.page.locator("[class*='-part-'] [role=radiogroup]").first
        names = [name.strip() for name in row.locator("button").all_inner_texts()]
        assert names == [chapter.title for chapter in lesson.chapters]
        wide = row.locator("button").evaluate_all(
            "(all) => all.map((one) => one.clientWidth - one.firstElementChild.scrollWidth)"
        )
        assert max(wide) < 40, dict(zip(names, wide, strict=True))
        window.page.wait_for_function(IN_ROW, arg=chosen)
        if width == 1440:
            assert row.evaluate("(row) => row.scrollWidth <= row.clientWidth")
        else:
            assert row.evaluate("(row) => row.style.getPropertyValue('--before')") == "36px"


IN_ROW = """(chosen) => {
    const one = document.querySelector(chosen), row = one.closest("[role=radiogroup]");
    const [inner, outer] = [one.getBoundingClientRect(), row.getBoundingClientRect()];
    return inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
}"""


def test_back_leads_through_the_chapters_that_were_opened_and_forward_again(browser, address):
    visit = make_visit(browser, address)  # a new window: a history has fifty entries at most
    page = visit.page
    visit.open("training")  # a bare link
    entries = page.evaluate("history.length")
    tab = page.locator("[data-testid=stMain] [data-testid=stButtonGroup]").first.get_by_role
    menu = page.locator("[data-testid=stSidebarNavLink]")
    chapters = {
        "training?part=teach": lambda: None,
        "training?part=loss": lambda: tab("radio", name="Loss").click(),
        "transformer?part=block": lambda: menu.and_(page.locator("[href$=transformer]")).click(),
        "transformer?part=stream": lambda: tab("radio", name="Reading the stream").click(),
        "transformer?part=context": lambda: page.get_by_role("button", name="Next: ").click(),
        "sampling?part=loop": lambda: menu.and_(page.locator("[href$=sampling]")).click(),
        "sampling?part=temperature": lambda: tab("radio", name="Temperature").click(),
        "sampling?part=temperature&temperature=1.1": lambda: page.get_by_role("slider").first.press(
            "ArrowRight"
        ),  # no chapter, and no entry
        "glossary": lambda: menu.and_(page.locator("[href$=glossary]")).click(),
    }
    heads = {}
    for there, open_chapter in chapters.items():
        open_chapter()
        page.wait_for_url(f"{visit.url}/{there}")
        visit.settle()
        heads[there] = page.locator("h1").inner_text()
    assert heads.pop("sampling?part=temperature") == list(heads.values())[-2]
    assert page.evaluate("history.length") == entries + len(heads) - 1
    for go, way in (page.go_back, [*heads][-2::-1]), (page.go_forward, [*heads][1:]):
        for there in way:
            go()
            visit.settle()
            assert page.url.split("&")[0] == f"{visit.url}/{there}".split("&")[0]
            assert page.locator("h1").inner_text() == heads[there]
    visit.assert_clean()
    page.context.close()


FOCUS = """() => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}"""


def test_the_focus_stays_where_something_was_pressed_and_begins_a_chapter_at_its_top(window):
    page = window.page

    def press(button):
        button.focus()
        page.keyboard.press("Enter")
        window.settle()
        return page.evaluate_handle(FOCUS).as_element()

    window.open("transformer?part=block")
    page.locator(".track input[type=range]").first.press("ArrowRight")
    at = press(page.get_by_role("button", name="That is my guess"))
    assert at.evaluate("(at) => at.matches('.lv') && !!at.querySelector('.rows')")  # its picture
    window.open("sampling?part=dice")
    at = press(page.get_by_role("button", name="Show me without an answer"))
    assert (
        unmarked(words.right.split("{")[0]).strip() in at.inner_text()
    )  # what is said of its question
    ring = "(at) => getComputedStyle(at).outlineStyle"
    assert at.evaluate(ring) == "auto"
    window.open("history?part=where")
    page.locator("[class*=st-key-lv-guess] label:has(input)").first.click()
    window.settle()
    at = page.evaluate_handle(FOCUS).as_element()
    assert at.evaluate("(at) => at !== document.body") and at.evaluate(ring) == "none"
    window.open("sampling?part=dice")
    for next_one in ("Next: ", "Next lesson: "):  # in the lesson, and a page of its own
        at = press(page.get_by_role("button", name=next_one))
        assert at.evaluate("(at) => at.matches('.stMain')")
        page.keyboard.press("Tab")
        tabs = page.locator("[data-testid=stMain] [data-testid=stButtonGroup]").first
        assert tabs.evaluate("(tabs) => tabs.contains(document.activeElement)")
        window.open("sampling?part=writing")
    tab = page.get_by_role("radio", name="The dice")
    at = press(tab)  # a list that stays keeps it
    assert at.evaluate("(at, tab) => at === tab || at.contains(tab)", tab.element_handle())

    link = page.locator("[data-testid=stSidebarNavLink]").nth(3)
    looks = "(link) => [getComputedStyle(link).outline, getComputedStyle(link).backgroundColor]"
    link.hover()
    pointed = link.evaluate(looks)
    page.mouse.move(2, 2)
    page.locator("[data-testid=stSidebarNavLink]").nth(2).focus()
    page.keyboard.press("Tab")
    assert link.evaluate(looks) != pointed  # what the hand points at looks otherwise
    window.assert_clean()


def top(window, first: str) -> float:
    """Where a page begins, which must lie under nothing."""
    window.settle()
    header = window.page.locator("[data-testid=stHeader]").bounding_box()
    begins = window.page.locator(f"[data-testid=stMain] {first}").first.bounding_box()["y"]
    assert begins >= header["y"] + header["height"]
    return begins


def test_the_top_of_a_page_lies_under_nothing_and_stays_where_it_was(window):
    tops = []
    for _visit in ("first", "second"):  # in the first one the browser is given its secret
        window.open("models")
        tops.append(top(window, "h1"))
    assert tops[0] == tops[1]


def test_what_was_opened_and_answered_is_kept_over_a_reload_and_can_be_forgotten(window, line):
    page = window.page
    window.open("")  # in the first visit the browser is given its secret
    begins = top(window, "h1")
    page.context.clear_cookies()  # the browser is given its secret here, as well
    window.open("tokenization?part=merge")
    chapter = top(window, "[role=radiogroup]")
    until(page, lambda: line().startswith(SO_FAR.format(0)))
    page.locator("[data-testid=stRadio] label").nth(1).click()
    until(page, lambda: line().startswith(SO_FAR.format(1)))
    window.open("")
    until(page, lambda: line().startswith(SO_FAR.format(1)))
    assert top(window, "h1") == begins
    page.get_by_text("Ten lessons, or everything").click()
    ticked = page.locator(".way-chapter.opened")
    expect(ticked).to_be_visible()
    assert ticked.all_inner_texts()[0].startswith("Merge") and ticked.count() == 1
    page.get_by_role("button", name="Forget it").click()
    until(page, lambda: line().startswith("Nothing is kept"))
    assert ticked.count() == 0
    page.get_by_role("button", name="Bring it back").click()
    until(page, lambda: ticked.count() == 1)

    # what was written by hand is ignored, and a browser that keeps nothing works
    page.evaluate("localStorage.setItem('llmviz.progress', '{\"version\": 9, \"opened\": 3}')")
    window.open("tokenization?part=merge")
    until(page, lambda: line().startswith("Chapters opened: 1 of"))
    assert top(window, "[role=radiogroup]") == chapter
    refuse = "() => { Storage.prototype.setItem = () => { throw new DOMException('full') } }"
    page.evaluate(refuse)
    page.locator("[data-testid=stRadio] label").nth(1).click()
    window.settle()
    assert line().startswith(SO_FAR.format(0))
    window.assert_clean()
