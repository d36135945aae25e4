"""Whose a run is, and whose a class: a browser comes back to its own; another one only looks."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from llmviz.course.ui.classroom import words
from tests.browser.conftest import Visit, leave
from tests.browser.hand import settle
from tests.browser.test_training import button, saved

LINK = (
    "training?r_steps=200000&r_n_layer=1&r_n_embd=16&r_n_head=2&r_batch_size=8&r_eval_every=400"
    "&r_eval_batches=1&r_sample_every=0&r_snapshots=0"
)
ODD = "Ann <b>shows</b> **this** & {that} 👩‍🚀 한국어"
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
    visit.open(f"training?rstep={wrong}")
    expect(visit.page.get_by_text("evil.example").first).to_be_visible()
    assert not visit.page.locator('a[href*="evil"]').count()


@pytest.mark.slow
def test_followers_see_what_the_presenter_sees(visit, other, windows, address):
    third = windows(2, address)
    ann, bob, cem = visit.page, other.page, third.page

    def texts(text: str, *pages) -> None:
        for page in pages:
            page.get_by_text("Your text and model").click()
            expect(page.get_by_role("textbox", name="Your text")).to_have_value(text)

    visit.open("tokenization?part=merge")
    button(ann, words.open_box).click()
    settle(ann)
    expect(button(ann, words.open)).to_be_in_viewport(ratio=1)  # without a hand that scrolls
    button(ann, words.open).click()
    link = ann.locator("[data-testid=stSidebar] [data-testid=stCode]").inner_text().strip()
    assert link.startswith(f"{visit.url}/?class=")
    code = link[-6:]
    bob.goto(link)
    third.dress("dark", 390)
    third.open(f"glossary?class={code}")  # any page of the app with the code leads there
    for page in (bob, cem):
        page.wait_for_url("**/tokenization?part=merge*")
    ann.get_by_text("Your text and model").click()
    box = ann.get_by_role("textbox", name="Your text")
    box.fill(ODD)
    box.press("Control+Enter")
    texts(ODD, bob, cem)
    third.settle()
    cem.locator("[data-testid=stRadio] [role=radiogroup] label").first.click()
    expect(ann.get_by_text(words.answered[True]).first).to_be_visible()
    assert not ann.locator("[data-testid=stProgress]").count()
    button(ann, words.show_answers).first.click()
    expect(ann.locator("[data-testid=stProgress]").first).to_be_visible()
    button(cem, words.look_around).click()
    expect(button(cem, words.come_back)).to_be_visible()
    ann.reload()  # the browser is known again, and so is the class
    expect(button(ann, words.end)).to_be_visible()
    bob.reload()
    expect(bob.get_by_text(f"You follow the class {code}")).to_be_visible()
    at_a_projector(visit, other)
    visit.open("glossary")
    bob.wait_for_url("**/glossary?*")
    assert "/tokenization" in cem.url  # who looks around is left alone
    button(cem, words.come_back).click()
    cem.wait_for_url("**/glossary?*")
    button(ann, words.end).click()
    button(ann, words.end_now).click()
    for page in (bob, cem):
        expect(page.get_by_text(words.notices["ended"])).to_be_visible()
    for window in (visit, other, third):
        window.settle()
        window.assert_clean()
    leave(third)


def at_a_projector(presenter: Visit, follower: Visit) -> None:
    """A remote goes through the page; what the pointer is on lights up for a follower."""
    ann, bob = presenter.page, follower.page
    lit = bob.locator(".pointed")
    # Its browser leads as before.
    presenter.open("attention?part=steps&projector=1", ".player .count")
    bob.wait_for_url("**/attention?part=steps*")
    follower.settle()
    assert not ann.locator("[data-testid=stSidebar]").is_visible()
    assert bob.locator("[data-testid=stSidebar]").is_visible()
    main = ann.locator("[data-testid=stMain]")
    step = ann.locator(".player .count").first
    before = step.inner_text()
    for _ in range(3):  # the remote's one key: sections, past a player at its last step
        ann.keyboard.press("PageDown")
    assert main.evaluate("main => main.scrollTop") > 0
    for _ in range(6):  # its other key: sections, and the steps of a player in view
        ann.keyboard.press("PageUp")
        if step.inner_text() != before:
            break
    assert step.inner_text() != before
    ann.keyboard.press("l")
    heading = ann.locator("[data-testid=stMain] h2").first
    heading.scroll_into_view_if_needed()
    heading.hover()
    expect(lit).to_be_visible()
    title = bob.get_by_role("heading", name=heading.inner_text(), exact=True).first
    light, there = lit.bounding_box(), title.bounding_box()
    assert all(abs(light[name] - there[name]) < 2 for name in there)
    ann.keyboard.press("l")
    expect(lit).not_to_be_visible()
    button(ann, words.projector_words["leave"]).click()
    expect(ann.locator("[data-testid=stSidebar]")).to_be_visible()
