"""Whose a run is: the same browser comes back to it, another one with the same link only looks."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.test_training import button, saved

LINK = (
    "training?r_steps=200000&r_n_layer=1&r_n_embd=16&r_n_head=2&r_batch_size=8&r_eval_every=400"
    "&r_eval_batches=1&r_sample_every=0&r_snapshots=0"
)
WAIT = 240_000  # milliseconds that anything may take on a busy machine


@pytest.fixture(scope="module")
def address(small_url):
    return small_url


def test_a_link_shows_a_run_and_gives_it_to_its_own_browser_only(visit, other):
    ann, bob = visit.page, other.page
    for page in (ann, bob):
        page.set_default_timeout(WAIT)
    ann.goto(f"{visit.url}/{LINK}")
    ann.get_by_role("button", name="Start", exact=True).click()
    pause = ann.get_by_role("button", name="Pause")
    expect(pause).to_be_visible(timeout=WAIT)
    link = ann.url
    (secret,) = (c["value"] for c in ann.context.cookies() if c["name"] == "llmviz_browser")
    assert len(secret) == 43 and secret not in link
    ann.goto("about:blank")  # her connection is away for a moment
    bob.goto(link)
    expect(bob.get_by_text("This run was started in another window")).to_be_visible(timeout=WAIT)
    assert not bob.get_by_role("button", name="Pause").count()
    ann.goto(link)
    expect(pause).to_be_visible(timeout=WAIT)
    button(ann, "Stop").click()
    saved(ann, "stopped")


def test_an_address_in_a_warning_is_no_link(visit):
    wrong = "http://evil.example/www.evil.example/a@evil.example"
    visit.open(f"training?asteps={wrong}")
    expect(visit.page.get_by_text("evil.example").first).to_be_visible()
    assert not visit.page.locator('a[href*="evil"]').count()
