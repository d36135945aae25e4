"""The hour as plain files from a web host: what it loads, and what is left without a network."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from llmviz import cli
from llmviz.course.glossary import seen
from llmviz.course.lessons.ways import WAYS
from llmviz.course.ui import guess_given
from tests.browser.conftest import PATIENCE
from tests.browser.hand import until
from tests.browser.test_site_own import FIELDS

pytestmark = pytest.mark.slow  # of the second tier: the site

CHAPTERS = [f"{stop.lesson}/{stop.chapter}" for (stop,) in WAYS["hour"]]
WHOLE = 6_000_000  # bytes of the hour
FIRST = 300_000  # bytes of a page's first picture, as a host sends them: compressed
SHIFT = """new Promise((done) => {
  let sum = 0;
  const add = (one) => (sum += one.hadRecentInput ? 0 : one.value);
  const watch = new PerformanceObserver((list) => list.getEntries().forEach(add));
  watch.observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 500);
})"""


@pytest.fixture(scope="module")
def hour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hour") / "course"
    covers, guess_given.COVERS = guess_given.COVERS, True
    try:
        assert cli.main(["site", str(folder), "--way", "hour"]) == 0
    finally:
        guess_given.COVERS = covers
    return folder


def test_a_page_speaks_of_the_hour_alone(hour):
    """Of no chapter, test or list that is not there, and of no server."""
    home = (hour / "index.html").read_text("utf-8")
    for said in ("103 chapters", "Two short tests", "lists them all", "Models run on"):
        assert said not in home
    for number, name in enumerate(CHAPTERS, 1):
        page = (hour / f"{name}.html").read_text("utf-8")
        opening = re.search(r'lv-opening">(.*?)</div>', page)
        assert opening and f"stop {number} of {len(CHAPTERS)}" in opening[1]
        assert "chapter" not in opening[1]


def test_the_glossary_leads_to_where_a_term_is_seen_in_the_hour(hour):
    links = re.findall(
        r'<dt id="([^"]*)">[^<]*</dt><dd>(?:(?!</dd>).)*<a class="see" href="([^"]*)"',
        (hour / "glossary.html").read_text("utf-8"),
    )
    here = {term: place for term, place in seen().items() if place.partition("?")[0] in CHAPTERS}
    assert {unquote(term) for term, _ in links} == set(here)
    for term, file in links:
        chapter, _, state = here[unquote(term)].partition("?")
        assert (hour / file).is_file() and file.startswith(chapter), term
        if "&" in state:  # a state of its own, not the chapter as it begins
            assert file != f"{chapter}.html", term


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def host(hour: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(hour)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def visitor(computing_browser: Any) -> Iterator[Any]:
    context = computing_browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    yield page
    assert page.wrong == []
    context.close()


def test_the_hour_has_its_chapters_alone_and_names_no_other_host(hour):
    pages = {path.relative_to(hour).as_posix() for path in hour.rglob("*.html")}
    whole = {name for name in pages if re.fullmatch(r"[^.]*\.html", name)}
    assert whole == {
        "index.html",
        "glossary.html",
        "home/model.html",
        *(f"{name}.html" for name in CHAPTERS),
    }
    for name in pages:
        text = (hour / name).read_text("utf-8")
        assert "localhost" not in text and "127.0.0.1" not in text, name
        assert "to-app" not in text, name
        for link in re.findall(r'(?:href|src)="(\w+:[^"]*)"', text):
            assert link.startswith("https://github.com/"), (name, link)
    assert sum(path.stat().st_size for path in hour.rglob("*") if path.is_file()) < WHOLE


def test_after_one_visit_all_of_it_works_without_a_network(host, visitor):
    visitor.goto(f"{host}/")
    visitor.wait_for_function("navigator.serviceWorker.controller", timeout=PATIENCE)
    visitor.context.set_offline(True)
    visitor.reload()
    expect(visitor.locator("h1")).to_be_visible()
    for name in CHAPTERS:
        visitor.goto(f"{host}/{name}.html")
        expect(visitor.locator("h1")).to_be_visible()
        expect(visitor.locator("[data-picture]:visible").first).to_have_attribute("data-drawn", "")
        if field := FIELDS.get(name):
            visitor.locator(f"#{field}-text").fill(f"The owl reads {name}")
            expect(visitor.locator(f"#{field}-live")).to_be_visible(timeout=PATIENCE)
            visitor.locator(f"#{field}-back").click()  # the next chapter would show it at once
        assert visitor.get_by_text("is missing").count() == 0
    visitor.goto(f"{host}/training/teach.html")
    visitor.locator("#train-size").fill("0")
    visitor.locator("#train-go").click()
    expect(visitor.locator("#train-now")).to_contain_text(
        re.compile("Step [1-9]"), timeout=PATIENCE
    )
    visitor.goto(f"{host}/home/model.html")
    visitor.locator("#live-text").fill("mar")
    visitor.locator("#live-draw").click()
    expect(visitor.locator("#live-drawn")).to_contain_text("falls on")


def test_answers_stand_after_a_reload_and_are_marked_until_they_are_forgotten(host, visitor):
    grades = {}
    for name in ("sampling/temperature", "tokenization/cut"):
        visitor.goto(f"{host}/{name}.html")
        if visitor.locator(".question input").count():
            visitor.locator(".question input[data-right]").first.check()
        else:
            handle = visitor.locator(".instead input.handle")
            handle.evaluate(
                "(range) => { range.value = 400; range.dispatchEvent(new Event('input')) }"
            )
            visitor.locator(".instead .done").click()
        expect(visitor.locator(".grade")).not_to_be_empty()
        grades[name] = visitor.locator(".grade").inner_text()
        visitor.reload()
        expect(visitor.locator(".grade")).to_have_text(grades[name], use_inner_text=True)
        expect(visitor.locator(".covered").first).to_be_visible()
        expect(visitor.locator(".instead").first).to_be_hidden()
    expect(visitor.locator(".covered .own")).to_have_count(1)  # what was guessed, on the picture
    visitor.goto(f"{host}/index.html")
    marked = visitor.locator(".way:visible a.answered")
    expect(marked).to_have_count(len(grades))
    assert {link.get_attribute("href") for link in marked.all()} == {
        f"{one}.html" for one in grades
    }
    visitor.get_by_role("button", name="Forget my answers").click()
    expect(marked).to_have_count(0)
    visitor.goto(f"{host}/tokenization/cut.html")
    expect(visitor.locator(".grade")).to_be_empty()
    expect(visitor.locator(".covered").first).to_be_hidden()


def test_a_page_with_a_control_set_by_its_link_opens_so_again(host, visitor):
    visitor.goto(f"{host}/sampling/temperature.html")
    visitor.locator(".show").click()
    visitor.locator("button.look:not(.on)").first.click()
    visitor.wait_for_url("**/temperature.look.*.html#told")
    said = visitor.locator(".picture:visible p.line")
    before = said.inner_text()
    assert "At T = " in before
    visitor.reload()
    expect(said).to_have_text(before)
    expect(visitor.locator("button.look.on")).to_have_count(1)


@pytest.mark.parametrize("name", ["index", "home/model", *CHAPTERS])
def test_a_page_comes_with_few_bytes_and_nothing_jumps(host, hour, visitor, name):
    """What it takes until its first picture is drawn; what the site keeps comes behind it."""
    visitor.add_init_script("delete Navigator.prototype.serviceWorker")
    asked: list[str] = []
    visitor.on("request", lambda request: asked.append(request.url))
    live = json.loads(
        re.search(r'id="page">(.*?)</script>', (hour / f"{name}.html").read_text())[1]
    )
    weights = f"{host}/assets/data/{(live['live'] or {}).get('model')}.js"
    visitor.route(weights, lambda _: None)  # they never come, and no picture waits for them
    visitor.goto(f"{host}/{name}.html")
    picture = visitor.locator("[data-drawn], .live canvas").first
    until(visitor, lambda: picture.count() == 1)
    sent = {url for url in asked if url.startswith(host)}
    others = set(asked) - sent
    sent.discard(weights)
    assert others == {url for url in asked if url.startswith(("blob:", "data:"))}
    assert visitor.evaluate(SHIFT) < 0.1
    assert sum(compressed(hour, url, host) for url in sent) < FIRST


def weights_of(site: Path, name: str) -> str:
    """The file of the model that a page reads a visitor's own text with."""
    html = (site / f"{name}.html").read_text("utf-8")
    live = json.loads(re.search(r'id="page">(.*?)</script>', html)[1])["live"] or {}
    return f"assets/data/{live.get('model')}.js"


def compressed(hour: Path, url: str, host: str) -> int:
    return len(gzip.compress((hour / url.removeprefix(f"{host}/").split("#")[0]).read_bytes()))
