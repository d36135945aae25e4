"""What a visitor of the site waits for, page by page of the hour, as a table for docs/CLASS.md.

    python -m benchmarks.site_table FOLDER

FOLDER: what `python -m llmviz site FOLDER --way hour` wrote. A web host on this machine gives it
out, and a browser opens every page anew at 390 × 844. Bytes are those of files as a host sends
them: compressed, each alone. The weights and what the site keeps come after them.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import sync_playwright

from llmviz.course.site.write import places
from tests.browser.conftest import CHROMIUM
from tests.browser.test_pages import AXE, FOUND
from tests.browser.test_site_hour import SHIFT, Quiet, compressed, weights_of

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
# What a hand can use, and what the tabulator key comes to, pictures' own parts among them.
HAND = """() => [...document.querySelectorAll("a[href], button, input, textarea, summary")]
  .filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0)
  .filter(({ type, name }, i, all) => type !== "radio" || name !== all[i - 1].name)
  .length"""
TABBED = """() => {
  const at = document.activeElement;
  if (!at || at === document.body || at.reached) return 0;
  at.reached = true;
  return at.matches("a[href], button, input, textarea, summary") ? 2 : 1;
}"""
TOKENS = """async (name) => {
  const { model, tokenizer } = llmvizMachine.opened(await llmvizSite.data(name));
  const cache = model.begin();
  const begun = performance.now();
  for (let i = 0; i < 60; i++) model.step(cache, tokenizer.end);
  return (performance.now() - begun) / 60;
}"""


class Page(NamedTuple):
    """What was measured of a page; reached: elements for a hand by the keyboard alone, of all."""

    name: str
    bytes: int
    paint: float
    shift: float
    reached: tuple[int, int]
    serious: int


@contextmanager
def host(folder: Path) -> Iterator[str]:
    """Give out a folder on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def measured(browser: Any, folder: Path, at: str, name: str) -> Page:
    """Open a page as somebody who was never here."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.add_init_script("delete Navigator.prototype.serviceWorker")
    weights = f"{at}/{weights_of(folder, name)}"
    page.route(weights, lambda _: None)
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    page.goto(f"{at}/{name}.html")
    page.wait_for_selector("[data-drawn], .live canvas, .terms", state="attached")
    size = sum(compressed(folder, url, at) for url in asked - {weights} if url.startswith(at))
    paint, shift = page.evaluate(PAINT), page.evaluate(SHIFT)
    page.evaluate(AXE)
    serious = len(page.evaluate(FOUND))
    hand, reached = page.evaluate(HAND), 0
    for _ in range(3 * hand + 50):
        page.keyboard.press("Tab")
        reached += page.evaluate(TABBED) == 2
    context.close()
    return Page(name, size, paint, shift, (reached, hand), serious)


def main() -> None:
    """Print the table, and how long a token takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    names = [place.file.removesuffix(".html") for place in places(way="hour")]
    print("| Page | kB to the first picture | first paint, ms | layout shift | by keyboard | axe |")
    print("|---|---|---|---|---|---|")
    with sync_playwright() as play, host(folder) as at:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name in names:
            page = measured(browser, folder, at, name)
            print(
                f"| {name} | {page.bytes / 1000:.0f} | {page.paint:.0f} | {page.shift:.3f} "
                f"| {page.reached[0]} of {page.reached[1]} | {page.serious} |",
                flush=True,
            )
        page = browser.new_page()
        page.goto(f"{at}/index.html")
        page.wait_for_function("globalThis.llmvizMachine")
        data = Path(weights_of(folder, "index")).stem
        print(f"\nA token of the machine: {page.evaluate(TOKENS, data):.1f} ms")
        browser.close()


if __name__ == "__main__":
    main()
