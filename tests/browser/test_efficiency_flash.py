"""Flash attention under a hand: tiles are stepped, a row is opened, the tile's size is changed."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address


def test_tiles_are_stepped_and_a_row_shows_its_arithmetic(visit):
    visit.open("efficiency?part=flash&tilestep=1&show=1", ".tiles-rows tr.open")
    page = visit.page
    caption, sums = page.locator(".tiles-caption"), page.locator(".tiles-sums")
    expect(caption).to_contain_text("Tile 2 of")
    expect(page.locator(".tiles-rows td")).to_have_count(4 * 5)
    before = page.locator(".tiles-traffic").inner_text()
    page.get_by_label("one step on").click()
    expect(caption).to_contain_text("Tile 3 of")
    assert page.locator(".tiles-traffic").inner_text() != before
    wait_for_address(page, "tilestep", "2")
    button = page.locator("button.tiles-row").first
    button.click()
    expect(sums.locator(".tiles-title")).to_have_text(button.inner_text())
    expect(sums).to_contain_text("max(")
    # The sum that stands there is that of its parts, and the table's.
    line = sums.locator("p").last.inner_text().replace("−", "-")
    parts, total = line.rsplit(" = ", 2)[-2:]
    plain = [float(part) for part in parts.split(" + ") if "·" not in part]  # not 1.2·10⁻⁵
    assert abs(sum(plain) - float(total)) < 0.01
    assert page.locator(".tiles-rows tr.open td").last.inner_text() == total
    visit.assert_clean()
