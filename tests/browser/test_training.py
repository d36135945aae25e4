"""A run in the page: started, left, come back to, paused, resumed, forked, compared, downloaded."""

from __future__ import annotations

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from llmviz.runs.store import SESSIONS
from llmviz.training.plan import prepare
from llmviz.training.run_folder import run_in_folder
from llmviz.training.samples import sampler
from tests.training.small_plans import small_plan, small_training

# A GPT so small, for so many steps, that it is still learning when the test is done with it.
LINK = (
    "training?r_steps=20000&r_n_layer=1&r_n_embd=16&r_n_head=2&r_batch_size=8&r_eval_every=40"
    "&r_eval_batches=1&r_sample_every=40&r_sample_tokens=10&r_snapshots=40"
)
WAIT = 240_000  # milliseconds that anything may take on a busy machine


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


@pytest.fixture
def visit(visit):
    """A window that waits for long."""
    visit.page.set_default_timeout(WAIT)
    return visit


@pytest.fixture
def halfway(runs_folder) -> str:
    """The name of a kept run that rests far from its end; the other test need not have made one.

    Another name each time, so that a second try of the test does not find the first one's folder.
    """
    name = f"halfway-{len(list(runs_folder.glob('halfway-*')))}"
    train = small_training(
        steps=20_000,
        log_every=5,
        eval_every=40,
        eval_batches=1,
        sample_every=40,
        sample_tokens=10,
        snapshot_every=100,
    )
    run = prepare(small_plan(train, windows="padded"))
    records = run_in_folder(runs_folder / name, run, sample=sampler(run))
    for record in records:
        if record.step >= 300:
            break
    records.close()  # which saves it
    return name


def step(page) -> int:
    text = page.get_by_text(re.compile(r"^step [\d,]+ of")).first.inner_text(timeout=WAIT)
    return int(re.search(r"step ([\d,]+) of", text)[1].replace(",", ""))


def past(page, least: int) -> int:
    """Wait until the run's panel shows a later step than `least`."""
    page.wait_for_function(
        "least => { const found = document.body.innerText.match(/step ([\\d,]+) of/);"
        " return found && +found[1].replace(/,/g, '') > least; }",
        arg=least,
        timeout=WAIT,
    )
    return step(page)


def button(page, name: str):
    # Streamlit has a "Stop" of its own above the page, and popovers are outside its main part.
    inside = page.get_by_role("button", name=name, exact=True)
    return inside.and_(page.locator("button:not([kind=header])"))


def saved(page, state: str) -> None:
    page.get_by_text(re.compile(rf"· {state}")).first.wait_for(timeout=WAIT)


@pytest.mark.slow
def test_a_run_from_start_to_download(visit):
    page = visit.page
    visit.open(LINK)
    button(page, "Start").click(timeout=WAIT)
    first = past(page, 0)
    assert re.search(r"run=run(:|%3A)my-[a-z2-7]{26}", page.url)
    # It goes on by itself, and the chart with it: no click, no reload.
    second = past(page, first)
    page.wait_for_selector(".values td.step", timeout=WAIT)
    chart = page.locator(".stage .over")
    # A zoom stays while the curve grows.
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 120, steps=4)
    page.mouse.up()
    zoom = page.locator(".lv[data-zoom]").last.get_attribute("data-zoom")
    assert zoom
    past(page, second)
    assert page.locator(".lv[data-zoom]").last.get_attribute("data-zoom") == zoom
    button(page, "Show all").click(timeout=WAIT)
    assert page.locator(".lv[data-zoom]").last.get_attribute("data-zoom") == ""

    # Another lesson meanwhile; the run goes on.
    before = step(page)
    page.get_by_role("link", name="Glossary").click()
    page.wait_for_selector("text=Glossary >> nth=1", timeout=WAIT)
    visit.settle()
    page.locator("[data-testid=stSidebar]").get_by_role("link", name="Training").click()
    past(page, before)

    button(page, "Pause").click(timeout=WAIT)
    saved(page, "paused")
    rested = step(page)
    visit.settle()
    assert step(page) == rested

    # F5 makes a new session; the link brings the run back, with its buttons.
    page.reload()
    saved(page, "paused")
    button(page, "Go on").click(timeout=WAIT)
    past(page, rested)
    button(page, "Stop").click(timeout=WAIT)
    saved(page, "stopped")

    # Keep it.
    button(page, "Keep").click(timeout=WAIT)
    page.get_by_label("Name", exact=True).fill("first")
    page.get_by_label("Name", exact=True).press("Enter")
    button(page, "Keep it").click(timeout=WAIT)
    page.get_by_text(re.compile("stopped, saved, kept")).wait_for(timeout=WAIT)
    visit.assert_clean()


@pytest.mark.slow  # two trainings
def test_compare_fork_and_download(visit, halfway, runs_folder):
    page = visit.page
    visit.open(f"training?part=curves&show=1&runs=run:{halfway},names-bigram")
    page.wait_for_selector(".values tbody tr:nth-child(2)", timeout=WAIT)
    assert page.locator(".values tbody .run").all_inner_texts() == [halfway, "names-bigram"]
    # A click takes a run off the picture and back, and the link says so.
    button(page, "names-bigram").click(timeout=WAIT)
    page.wait_for_selector(".values tr.off", timeout=WAIT)
    page.wait_for_url(re.compile("hide=names-bigram"), timeout=WAIT)
    button(page, "names-bigram").click(timeout=WAIT)
    page.wait_for_url(lambda url: "hide=" not in url, timeout=WAIT)
    expect(page.locator(".values tr.off")).to_have_count(0)
    # The scrubber moves all that belongs to a step.
    page.locator(".player .scrub").focus()
    page.keyboard.press("Home")
    cell = page.locator(".values tbody tr:first-child td.step")
    expect(cell).to_have_text("5")  # 20,000 steps are 4,000 points
    page.keyboard.press("End")
    expect(cell).not_to_have_text("5")
    visit.settle()
    expect(cell).not_to_have_text("5")  # the page's answer to the first key pulls nothing back
    page.wait_for_selector(".sample .text", timeout=WAIT)

    button(page, "Fork here").click(timeout=WAIT)
    rate = page.get_by_label("Learning rate", exact=True)
    rate.fill("0.02")
    rate.press("Enter")
    visit.settle()
    button(page, "Start the fork").click(timeout=WAIT)
    expect(page.locator(".values tbody tr")).to_have_count(3, timeout=WAIT)
    names = page.locator(".values tbody .run").all_inner_texts()
    assert names[0] == halfway and any("gpt on names" in name for name in names)
    visit.settle()
    for _ in range(4):  # at any moment between two looks at the run
        with page.expect_download(timeout=WAIT) as caught:
            button(page, "All runs as CSV").click(timeout=WAIT)
    rows = list(csv.DictReader(io.StringIO(caught.value.path().read_text("utf-8"))))
    assert {row["run"] for row in rows} == set(names)
    own = [row for row in rows if row["run"] == halfway]
    assert [int(row["step"]) for row in own] == sorted(int(row["step"]) for row in own)
    assert all(float(row["train_loss"]) > 0 for row in rows)
    # Up to the fork the two curves are one.
    fork = [row for row in rows if "gpt on names" in row["run"]]
    shared = min(len(fork), len(own))
    assert [row["train_loss"] for row in fork[:shared]] == [
        row["train_loss"] for row in own[:shared]
    ]
    # The model of this checkpoint, in another lesson.
    button(page, "Sampling").click(timeout=WAIT)
    page.wait_for_url(re.compile(f"sampling.*run(:|%3A){halfway}"), timeout=WAIT)
    visit.settle()
    # The fork would go on for long.
    newest = max((runs_folder / SESSIONS).iterdir(), key=lambda folder: folder.stat().st_mtime)
    visit.open(f"training?run=run:{newest.name}")
    button(page, "Stop").click(timeout=WAIT)
    saved(page, "stopped")
    visit.assert_clean()
