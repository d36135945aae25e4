"""The lesson on fine-tuning under a hand: the switch, and a classifier that is trained and used."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_tokenization import wait_for_address

OWN = [
    (f"{place} {name}", name)
    for place in ("old", "grey", "small", "loud")
    for name in ("cat", "fox")
]


def file_of(name: str, lines: list[str]) -> dict[str, object]:
    """A file as the browser hands it over."""
    return {"name": name, "mimeType": "text/csv", "buffer": "\n".join(lines).encode()}


def test_the_switch_colours_what_moves(visit):
    visit.open("finetuning?show=1&part=stages&way=all", ".js-plotly-plot")
    page = visit.page
    expect(page.get_by_text("This is full fine-tuning")).to_be_visible()
    page.get_by_role("radio", name="From nothing").click()
    wait_for_address(page, "way", "nothing")
    expect(page.get_by_text("This is training from nothing")).to_be_visible()
    visit.assert_clean()


@pytest.mark.slow
def test_a_classifier_is_trained_and_used_and_a_table_without_labels_is_refused(visit):
    visit.open("finetuning?show=1&part=classifier&labels=typed&classupdates=60")
    page = visit.page
    page.get_by_role("button", name="Train", exact=True).click()
    wait_for_address(page, "classtrained", "1")
    expect(page.get_by_text("test texts, kept apart from the training texts")).to_be_visible()
    page.locator('td[data-at="0.0"]').first.click()
    wait_for_address(page, "cell", "0.0")
    box = page.get_by_label("Your sentence")
    box.fill("Along came a dog.")
    box.press("Control+Enter")
    expect(page.get_by_text("The classifier says animal:")).to_be_visible()
    expect(page.locator(".chip", has_text="dog").first).to_be_visible()

    # a table that is refused takes nothing from the one in use
    page.get_by_role("radio", name="From a file").click()
    chosen = page.locator("input[type=file]")
    lines = [f'"The {one} sleeps, and wakes.",{kind}' for one, kind in OWN]
    chosen.set_input_files(file_of("mine.csv", ["text,label", *lines]))
    expect(page.get_by_text(f"In use: mine.csv, {len(OWN)} texts.")).to_be_visible()
    chosen.set_input_files(file_of("other.csv", ["text,number", "a,1"]))
    expect(page.get_by_test_id("stAlert").first).to_be_visible()
    expect(page.get_by_text(f"In use: mine.csv, {len(OWN)} texts.")).to_be_visible()
    visit.assert_clean()
