"""The chapter "Your own discovery" under a hand: a small study trains to its end and is kept."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError, expect

from llmviz.course.lessons.discoveries.own.own_study_folder import FILE, RESULTS, read_study
from tests.browser.hand import until
from tests.browser.test_tokenization import wait_for_address

LINK = (
    "discoveries?part=own&show=1&studytext=names&studysetting=n_embd&studyvalues=4,8,12"
    "&studymeasure=validation&studyseeds=1&studysteps=20&studyprediction=&studyhypothesis="
)


@pytest.fixture(scope="module")
def address(small_url: str) -> str:
    """The app that has runs of its own."""
    return small_url


@pytest.mark.slow  # three runs and their scoring, each in a process that yields to all others
def test_a_study_is_expected_trained_and_taken_home_and_its_link_shows_it(
    visit, other, runs_folder: Path
):
    visit.open(LINK, "h1")
    page = visit.page
    expect(page.get_by_text("Choose first which value will be best")).to_be_visible()
    expect(page.get_by_role("button", name="Train all runs")).to_have_count(0)
    best = page.get_by_role("option", name="12")

    def chosen() -> bool:
        # What the study costs comes meanwhile, and closes a list that was open.
        page.get_by_label("Which value will be best?").click()
        try:
            best.click(timeout=2000)
        except TimeoutError:
            return False
        return True

    until(page, chosen)
    expect(page.get_by_text("Write your hypothesis first")).to_be_visible()
    page.get_by_label("Your hypothesis").fill("Wide <b>wins</b>.")
    page.keyboard.press("Control+Enter")
    wait_for_address(page, "studyhypothesis", "Wide <b>wins</b>.")
    start = page.get_by_role("button", name="Train all runs")
    expect(start).to_be_enabled(timeout=180_000)
    start.click()
    expect(page.get_by_text("There is one seed only.")).to_be_visible(timeout=300_000)
    assert page.locator("b", has_text="wins").count() == 0
    with page.expect_download() as given:
        page.get_by_role("button", name="Save the folder (zip)").click()
    names = zipfile.ZipFile(given.value.path()).namelist()
    (folder,) = (runs_folder / "studies").iterdir()
    assert {f"{folder.name}/{name}" for name in (FILE, RESULTS, "README.md")} <= set(names)
    assert read_study(folder / FILE).hypothesis == "Wide <b>wins</b>."
    visit.assert_clean()
    # Another visitor opens the link, and sees what came out.
    other.open(page.url.partition("/")[2].partition("/")[2].partition("/")[2], ".js-plotly-plot")
    expect(other.page.get_by_text("There is one seed only.")).to_be_visible()
    other.assert_clean()
