"""The serving engine under a hand: ticks, blocks and lanes, and a run of the learner's own."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

PAGE = "efficiency"
FEW = "servecount=5&servenew=5&serveprompt=6&servesamples=2"


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


def facts(page) -> dict[str, str]:
    """What the film of the two runs says of its tick; another film is below it."""
    pairs = page.locator(".film-facts").first.locator(".film-fact")
    return {
        pair.locator("dt").inner_text(): pair.locator("dd").inner_text() for pair in pairs.all()
    }


def test_blocks_are_counted_and_a_tick_stays_in_the_link(lesson):
    page = lesson(
        f"show=1&part=serving&{FEW}&servetick=0&serveways=beams&servewaystick=2", ".film-near"
    )
    blocks_of_several_texts_are_counted(page)
    a_tick_changes_the_picture_and_stays_in_the_link(page)


def a_tick_changes_the_picture_and_stays_in_the_link(page):
    page.locator(".film-near summary").first.click()
    before = facts(page)
    page.get_by_role("button", name="one step on").first.click()
    after = facts(page)
    assert float(after["since the start"].split()[0]) > float(before["since the start"].split()[0])
    page.wait_for_function("location.search.includes('servetick=1')")
    # A block leads to the request that holds it, and to its block table.
    page.locator(".scrub").first.focus()
    page.keyboard.press("PageDown")
    grid = page.locator(".block-grid").first
    grid.locator(".block.held").last.click()
    expect(page.locator(".film-entry").first).to_be_visible()
    expect(grid.locator(".block.mine").first).to_be_visible()
    page.wait_for_function("location.search.includes('serverequest=')")
    held = grid.locator(".block.held").count()
    total = grid.locator(".block").count()
    assert facts(page)["free blocks"] == f"{total - held} / {total}"


@pytest.mark.slow
def test_another_policy_serves_the_requests_and_its_figures_are_read(lesson):
    page = lesson(f"show=1&part=serving&{FEW}", ".film-near")
    page.get_by_text("What comes, and how it is served").click()
    page.get_by_role("radio", name="split-fuse").first.click()
    page.wait_for_function("location.search.includes('servepolicy=split-fuse')")
    page.get_by_role("button", name="Serve them").click()
    expect(page.get_by_text("Both runs are over.")).to_be_visible()
    expect(page.locator(".film-lanes").first).to_be_visible()
    expect(page.get_by_text("These are your two runs")).to_be_visible()
    # What is said of both is measured: neither is 0, and the better one stands first.
    said = page.get_by_text(re.compile(r"wrote .* tokens a second")).inner_text()
    if "both wrote" in said:
        return  # two runs of the same rate have no winner
    best, other = re.search(
        r"wrote ([\d,]+) tokens a second, and with .+ only ([\d,]+)", said
    ).groups()
    assert int(best.replace(",", "")) >= int(other.replace(",", "")) > 0


def blocks_of_several_texts_are_counted(page):
    film = page.locator(".film-memory").nth(1)  # below the one of the two runs
    expect(film.locator(".block-count").filter(has_text="×4").first).to_be_visible()
    shared = film.locator(".block.shared")
    counts = [int(text[1:]) for text in shared.locator(".block-count").all_inner_texts()]
    named = sum(counts) + film.locator(".block.held").count() - len(counts)
    title = shared.first.get_attribute("title")
    assert counts[0] == 4 and all(f"r1/{place}" in title for place in range(4))
    entries = page.locator(".film-table").nth(1).locator(".film-entry")
    assert named == 4 * entries.count()  # the tables of four beams of one length
    page.get_by_role("radio", name="samples").last.click()
    page.wait_for_function("location.search.includes('serveways=samples')")
    expect(film.locator(".block-count").filter(has_text="×4").first).to_be_visible()


@pytest.mark.slow
def test_the_speed_is_measured_when_asked_for(visit):
    visit.open("efficiency?part=speculative&draft=copy&guesssize=bundled&show=1", ".guess-board")
    page = visit.page
    page.get_by_role("button", name="Measure on this machine").click()
    expect(page.get_by_text("On this machine")).to_be_visible(timeout=60000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    visit.assert_clean()
