"""Looking things up under a hand: the answer follows the passages."""

from playwright.sync_api import expect

from llmviz.course.lessons.reasoning.retrieval import LIE, TOLD, words
from tests.browser.test_tokenization import wait_for_address


def test_the_answer_follows_the_passages_and_their_changes(visit):
    visit.open("reasoning?show=1&part=lookup")
    page = visit.page
    expect(page.get_by_text("The model writes").first).to_be_visible()
    cell = page.get_by_role("grid", name=words.terms_label).locator("td").nth(1)
    cell.hover()
    expect(page.locator(".cells-told").first).to_contain_text("passage")
    cards = page.locator("[class*='st-key-lv-stage-retrieval'] .tok")
    for change in (LIE, TOLD):
        before = cards.all_inner_texts()
        page.get_by_text(words.changes[change], exact=True).click()
        wait_for_address(page, "lookchange", change)
        visit.settle()
        assert cards.all_inner_texts() != before
    ask = page.get_by_label("Your question")
    ask.fill("zyx?")
    ask.press("Enter")
    wait_for_address(page, "lookask", "zyx?")
    expect(page.get_by_text(words.none_found[:40])).to_be_visible()
    visit.assert_clean()
