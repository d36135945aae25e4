"""What a visitor of the site waits for, page by page of the hour, as a table for docs/CLASS.md.

    python -m benchmarks.site_table FOLDER

FOLDER: what `python -m llmviz site FOLDER --way hour` wrote. A web host on this machine gives it
out, and a browser opens every page anew at 390 × 844. Bytes are those of files as a host sends
them: compressed, each alone. The weights and what the site keeps come after them. A real model
(`--model`) is loaded, reads twelve words, and writes.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import sync_playwright

from llmviz.course.site.write import places
from tests.browser.conftest import CHROMIUM
from tests.browser.test_pages import AXE, FOUND
from tests.browser.test_site_hour import SHIFT, Quiet, compressed, weights_of

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
REAL = "home/real.html"
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
  const { model, tokenizer } = llmvizMachine.smallModel(await llmvizSite.data(name));
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


# Tasks of the page's own thread that took longer than a twentieth of a second.
WATCH = """globalThis.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
}).observe({ type: "longtask", buffered: true });"""
TWELVE = "Every {} {} the old man walks down to the river and"
MOMENTS = product(
    ("cold", "warm", "long", "short", "dark", "new"), ("day", "hour", "week", "night", "spring")
)
SAID = "document.querySelector('#real-ended').textContent"
# From the last key to what is drawn: a place is dimmed while the model reads.
READ = """([field, place, text]) => new Promise((done) => {
  const begun = performance.now();
  const [input, dims] = [field, place].map((one) => document.querySelector(one));
  input.value = text;
  input.dispatchEvent(new Event("input"));
  let waited = false;
  const watch = new MutationObserver((seen) => {
    const dimmed = dims.classList.contains("waits");
    waited ||= dimmed || seen.some(({ oldValue }) => oldValue?.includes("waits"));
    if (!waited || dimmed) return;
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - begun)));
  });
  watch.observe(dims, { attributeFilter: ["class"], attributeOldValue: true });
})"""
# The time of a fixed work, in milliseconds, in a worker or on the page's own thread.
WORK = """() => {
  const begun = performance.now();
  let sum = 0;
  for (let i = 0; i < 1e9; i++) sum += i % 7;
  return performance.now() - begun;
}"""
BEHIND = f"""() => new Promise((done) => {{
  const code = `postMessage(({WORK})())`;
  const worker = new Worker(URL.createObjectURL(new Blob([code])));
  worker.onmessage = ({{ data }}) => done(data);
}})"""
# What reads on the real model: the page, what its ids begin with, and what is dimmed.
LIVE = {
    "What comes next": (REAL, "real", "#real-shares"),
    "The whole machine": ("index.html", "machine", "#machine-live"),
    "How alike": ("embeddings/similarity.html", "alike", "#alike-live"),
    "A trained model, one head off": ("attention/trained.html", "trained", "#trained-live"),
    "Temperature": ("sampling/temperature.html", "temperature", "#temperature-live"),
}
TIMES = 4
TICK = 0.05  # seconds, of which a throttled window runs a part


def renderers(browser: Any) -> list[int]:
    """The processes of all windows."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    return [process["id"] for process in found if process["type"] == "renderer"]


def resident(browser: Any) -> float:
    """The memory of all windows' processes, in MB."""
    kilobytes = 0
    for process in renderers(browser):
        status = Path(f"/proc/{process}/status").read_text("utf-8")
        kilobytes += int(status.split("VmRSS:")[1].split()[0])
    return kilobytes / 1000


@contextmanager
def throttled(browser: Any, times: float) -> Iterator[None]:
    """Let the windows run a part of the time alone, as a processor that is so many times slower.

    Chromium's own throttle (`Emulation.setCPUThrottlingRate`) holds up the page's own thread and no
    worker, so the whole process is stopped and let go on, twenty times a second.
    """
    if times <= 1:
        yield
        return
    ended, processes = threading.Event(), renderers(browser)

    def hold() -> None:
        while not ended.is_set():
            for sign, part in ((signal.SIGSTOP, 1 - 1 / times), (signal.SIGCONT, 1 / times)):
                for process in processes:
                    with suppress(ProcessLookupError):
                        os.kill(process, sign)
                time.sleep(part * TICK)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def throttles(browser: Any) -> str:
    """How much slower fixed work gets by Chromium's own throttle, and by ours, as a sentence."""
    page = browser.new_page()
    _, *plain = (page.evaluate(code) for code in (WORK, WORK, BEHIND))  # the first is compiled
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": TIMES})
    own = [page.evaluate(code) for code in (WORK, BEHIND)]
    session.send("Emulation.setCPUThrottlingRate", {"rate": 1})
    with throttled(browser, TIMES):
        ours = [page.evaluate(code) for code in (WORK, BEHIND)]
    page.close()
    theirs, stopped = ([b / a for a, b in zip(plain, one, strict=True)] for one in (own, ours))
    return (
        f"Throttled {TIMES} times, Chromium slows the page's thread {theirs[0]:.1f} times and "
        f"a worker {theirs[1]:.1f}; stopping its process, {stopped[0]:.1f} and {stopped[1]:.1f}."
    )


def real(browser: Any, at: str) -> Iterator[str]:
    """What the pages of a real model take, as a table and a paragraph."""
    yield "| On the real model | twelve words, ms | throttled, ms | thread busy, ms | MB more |"
    yield "|---|---|---|---|---|"
    for name, (file, prefix, place) in LIVE.items():
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(f"{at}/{file}")
        page.wait_for_timeout(1500)
        before = resident(browser)
        page.evaluate("longest = 0")  # what opening a page takes is in the table above
        own = prefix == "real"
        page.click(f"#{prefix}-load" if own else f"#{prefix}-real-load")
        is_there = "#real-writing:not([hidden])" if own else f"#{prefix}-real[aria-pressed=true]"
        page.wait_for_selector(is_there, timeout=120_000)
        page.wait_for_timeout(1000)
        took = []
        for times in (1, TIMES):
            with throttled(browser, times):
                texts = [TWELVE.format(*next(MOMENTS)) for _ in range(3)]  # none is read twice
                asked = ([f"#{prefix}-text", place, text] for text in texts)
                took.append(statistics.median(page.evaluate(READ, one) for one in asked))
            if times == 1:
                longest = page.evaluate("longest")
        more = resident(browser) - before
        yield f"| {name} | {took[0]:.0f} | {took[1]:.0f} | {longest:.0f} | {more:.0f} |"
        if own:
            written = [tokens(page, browser, times) for times in (1, TIMES)]
        context.close()
    yield (
        f"\nA token of what it writes: {written[0]}; throttled, {written[1]}. 250 ms of each time "
        f"the page waits for the hand. 0: its thread was never busy over 50 ms."
    )


def tokens(page: Any, browser: Any, times: float) -> str:
    """What the page says of the last token of a text that the model writes."""
    with throttled(browser, times):
        page.click("#real-write")
        page.wait_for_function("document.querySelector('#real-write').textContent === 'Stop'")
        page.wait_for_function(SAID, timeout=120_000)
    return page.evaluate(SAID).removeprefix("A token took ").rstrip(".")


def main() -> None:
    """Print the table, and how long a token takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--real", action="store_true", help="only the pages of the real model")
    given = parser.parse_args()
    folder = given.folder
    names = [] if given.real else [place.file.removesuffix(".html") for place in places(way="hour")]
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
        if (folder / REAL).is_file():
            print(f"\n{throttles(browser)}\n")
            for line in real(browser, at):
                print(line, flush=True)
        browser.close()


if __name__ == "__main__":
    main()
