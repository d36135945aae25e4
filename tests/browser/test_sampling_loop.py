"""Under a hand: the loop is stepped and played in the browser, a change of 2017 is chosen."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.hand import motion
from tests.browser.test_tokenization import wait_for_address


def test_the_loop_goes_forward_and_back_and_plays_by_itself_to_its_end(visit):
    visit.open("sampling?part=loop&moment=5&reuse=1")
    page = visit.page
    line, last = page.locator(".loop-line"), page.locator("th.column.there").last
    expect(line).to_contain_text("Round 2.")
    expect(page.locator("td.again")).to_have_count(0)
    computed = page.locator("td.fresh")
    expect(computed).to_have_count(page.locator("tr:has(th.row)").count())
    before = page.locator("th.column.there").count()
    for _ in range(4):
        page.get_by_label("one step on").click()
    expect(line).to_contain_text("is appended")
    expect(page.locator("th.column.there")).to_have_count(before + 1)
    picked = page.locator(".loop-list code.picked").inner_text()
    assert last.get_attribute("title") == picked
    wait_for_address(page, "moment", "9")
    page.get_by_label("one step back").click()
    expect(page.locator("th.column.there")).to_have_count(before)
    page.get_by_text("Keep what was computed").click()
    visit.settle()
    expect(page.locator("td.kept")).to_have_count(0)
    assert page.locator("td.again").count() > 0
    expect(line).to_contain_text("is picked")  # it stays where the hand left it

    # by itself, to its end
    page.locator(".scrub").press("End")
    for _ in range(2):
        page.get_by_label("one step back").click()
    wait_for_address(page, "moment", "57")
    with motion(page):
        page.get_by_label("play").click()
        expect(page.locator(".loop-line")).to_contain_text("is appended")
    wait_for_address(page, "moment", "59")
    visit.assert_clean()


def test_a_change_is_chosen_and_drawn(visit):
    visit.open("transformer?part=since")
    page = visit.page
    page.get_by_role("radio", name="Experts").or_(
        page.get_by_role("button", name="Experts")
    ).first.click()
    wait_for_address(page, "change", "experts")
    cell = page.locator('td[data-at="0.0"]')
    cell.hover()
    expect(page.locator(".cells-told")).to_contain_text("layer 0: expert 0")
    visit.assert_clean()
