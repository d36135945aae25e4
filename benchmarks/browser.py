"""What a hand waits for in the browser, in milliseconds, beside the limits.

    python -m benchmarks.browser [--rounds 20] [--only WORD]

A server of its own and a headless Chromium. Everything is taken inside the page with
performance.now(): from the event of the key or the mouse to the frame in which what it asked for
has been drawn. Medians, with the smallest and the largest. Run nothing beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.grid import HEADS, TOKENS, folder_with_grid
from benchmarks.startup import FLAGS, ROOT, server, wait_until_up
from llmviz.tokenizers import load_tokenizer

# Notes when each text was last written on a canvas; finds elements inside the components.
HELPERS = """
window.drawn = new Map();
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  window.drawn.set(String(text), performance.now());
  return fillText.call(this, text, ...rest);
};
window.strokes = [];
for (const name of ["fillRect", "putImageData", "drawImage"]) {
  const own = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...rest) {
    window.strokes.push(performance.now());
    return own.apply(this, rest);
  };
}
window.arrived = []; // when each message of the server came, and its size
const Own = WebSocket;
window.WebSocket = class extends Own {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      window.arrived.push([performance.now(), data.byteLength ?? data.size ?? data.length]);
    });
  }
};
window.images = []; // when each picture was put on a canvas
const drawImage = CanvasRenderingContext2D.prototype.drawImage;
CanvasRenderingContext2D.prototype.drawImage = function (...rest) {
  window.images.push(performance.now());
  return drawImage.apply(this, rest);
};
window.deep = (selector, root = document) => {
  const found = [...root.querySelectorAll(selector)];
  for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) found.push(...window.deep(selector, node.shadowRoot));
  }
  return found;
};
window.painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
window.until = async (holds, since) => {
  while (!holds()) {
    if (performance.now() - since > 20000) throw new Error("it did not come within 20 s");
    await new Promise((next) => setTimeout(next, 1));
  }
  await window.painted();
  return performance.now() - since;
};
"""

SENTENCES = (
    "Mila found a red ball in the garden",
    "The king saw a golden cat at the market",
    "Otto put a small box beside the river",
    "The queen met an old farmer in the forest",
)


def quiet(page: Page) -> None:
    """Wait until no script is running and the page has come to rest."""
    page.wait_for_timeout(250)
    page.wait_for_function(
        "() => !document.querySelector('[data-testid=stStatusWidgetRunningIcon],"
        "[data-testid=stApp][data-test-script-state=running]')",
        timeout=60_000,
    )
    page.wait_for_timeout(250)


def opened(page: Page, url: str, path: str, selector: str) -> None:
    """Open a chapter and wait until a part of its component stands."""
    page.goto("about:blank")
    page.goto(f"{url}/{path}")
    page.wait_for_selector(selector, timeout=120_000, state="attached")
    quiet(page)


def each(page: Page, rounds: int, script: str, rest: float | None = None) -> Iterator[float]:
    """Run a script that is given the number of its round; yield the milliseconds that it tells.

    rest: milliseconds between two rounds; None: until the page has come to rest.
    """
    for i in range(rounds):
        yield page.evaluate(script, i)
        if rest is None:
            quiet(page)
        else:
            page.wait_for_timeout(rest)


# ---- attention, and the block of a transformer

MATRICES = "attention?part=steps&source=model"
BLOCK = "transformer?part=block&of=model"


def sentence(page: Page, url: str, rounds: int) -> Iterator[float]:
    """Enter in the text box, to the frame in which a token that only this text has is drawn."""
    opened(page, url, MATRICES, "canvas")
    folder = ROOT / "data" / "checkpoints"
    tokenizer = load_tokenizer(folder / "tiny-world-gpt" / "tokenizer.json")
    labels = [
        {tokenizer.token_bytes(i).decode().replace(" ", "·") for i in tokenizer.encode(text)[:10]}
        for text in SENTENCES
    ]
    box = page.get_by_label("Your text")
    page.evaluate(
        "addEventListener('keydown', (e) => { if (e.key === 'Enter') window.entered ="
        " performance.now(); }, true)"
    )
    for i in range(rounds + 2):
        at, before = i % len(SENTENCES), (i - 1) % len(SENTENCES)
        new = sorted(labels[at] - labels[before], key=len)[-1]
        box.fill(SENTENCES[at])
        page.wait_for_timeout(150)
        box.press("Control+Enter")
        taken = page.evaluate(
            "label => until(() => (drawn.get(label) ?? 0) > entered, entered)", new
        )
        if i >= 2:  # the first ones load the model and fill its caches
            yield taken
        quiet(page)


def stepping(page: Page, url: str, rounds: int, path: str = MATRICES) -> Iterator[float]:
    """An arrow key on the player, to the frame after it."""
    opened(page, url, path, "canvas")
    for i in range(rounds):
        yield page.evaluate(
            "async (key) => { const bar = deep('.player .scrub')[0]; const since ="
            " performance.now(); bar.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles:"
            " true})); await painted(); return performance.now() - since; }",
            "ArrowLeft" if i % 2 == 0 else "ArrowRight",
        )
        page.wait_for_timeout(500)


def hovering(page: Page, url: str, rounds: int, path: str = MATRICES) -> Iterator[float]:
    """The pointer onto another cell, to the frame with its arithmetic."""
    opened(page, url, path, "canvas")
    yield from each(
        page,
        rounds,
        "async (i) => { const canvas = deep('canvas').at(-1); const box ="
        " canvas.getBoundingClientRect(); const since = performance.now();"
        " canvas.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX:"
        " box.left + box.width * (0.4 + 0.02 * (i % 20)), clientY: box.top + box.height *"
        " 0.6})); await painted(); return performance.now() - since; }",
        rest=50,
    )


def heads(page: Page, url: str, rounds: int) -> Iterator[float]:
    """A click on a tile of the grid of all heads, to the frame with its lines."""
    opened(page, url, "attention?part=trained", "canvas")
    yield from each(
        page,
        rounds,
        "async (i) => { const canvas = deep('canvas')[0]; const box ="
        " canvas.getBoundingClientRect(); const at = {bubbles: true, clientX: box.left +"
        " box.width * (0.2 + 0.2 * (i % 4)), clientY: box.top + box.height * 0.4}; const since"
        " = performance.now(); canvas.dispatchEvent(new PointerEvent('click', at)); await"
        " painted(); return performance.now() - since; }",
    )


def grid(page: Page, url: str, rounds: int) -> Iterator[float]:
    """The message with the maps of 8 × 8 heads on 64 tokens, to the frame with all of them."""
    opened(page, url, "attention?part=trained&model=grid", "canvas")
    box, cells = page.get_by_label("Your text"), HEADS**2 * TOKENS * (TOKENS + 1) // 2
    for i in range(rounds + 1):
        turned = [SENTENCES[(i + j) % len(SENTENCES)] for j in range(len(SENTENCES))]
        box.fill(". ".join(3 * [f"{i} {turned[0]}", *turned[1:]]))
        page.wait_for_timeout(150)
        page.evaluate("() => { arrived.length = images.length = 0; }")
        box.press("Control+Enter")
        taken = page.evaluate(
            "async ([size, tiles]) => { const data = () => arrived.find((one) => one[1] > size);"
            " const drawn = () => data() && images.filter((at) => at > data()[0]).length >= tiles;"
            " await until(drawn, performance.now()); return performance.now() - data()[0]; }",
            [cells, HEADS**2],
        )
        if i:
            yield taken
        quiet(page)


# ---- finding one's way


def another_chapter(page: Page, url: str, rounds: int) -> Iterator[float]:
    """A chapter chosen in the list, to the frame with its heading."""
    opened(page, url, "sampling?part=temperature&show=1", "h2")
    titles = ("The dice", "Temperature")
    for i in range(rounds + 2):
        taken = page.evaluate(
            "(title) => { const heads = () => [...document.querySelectorAll('h2')].map((h) =>"
            " h.textContent).join(); const before = heads(); const since = performance.now();"
            " [...document.querySelectorAll('button')].find((one) => one.textContent.trim() ==="
            " title).click(); return until(() => heads() && heads() !== before, since); }",
            titles[i % 2],
        )
        if i >= 2:  # the first ones open the chapters
            yield taken
        quiet(page)


def from_link(page: Page, url: str, rounds: int) -> Iterator[float]:
    """A link opened in a window that has the app's files, to the frame with the picture."""
    for i in range(rounds + 2):
        page.goto("about:blank")
        page.goto(f"{url}/attention?part=steps&source=model&text={i}+old+cats", wait_until="commit")
        page.wait_for_function("() => window.deep && window.deep('canvas').length")
        taken = page.evaluate("async () => { await painted(); return performance.now(); }")
        if i >= 2:
            yield taken
        quiet(page)


# ---- sampling


def dragging(page: Page, url: str, rounds: int) -> Iterator[float]:
    """A slider of the pipeline moved by one stop, to the frame with its bars."""
    opened(page, url, "sampling?part=pipeline&show=1", ".slide")
    yield from each(
        page,
        rounds,
        "async (i) => { const range = deep(\"input[aria-label='temperature']\")[0]; const since"
        " = performance.now(); range.value = 3 + (i % 12); range.dispatchEvent(new"
        " Event('input')); await painted(); return performance.now() - since; }",
        rest=50,
    )


def releasing(page: Page, url: str, rounds: int) -> Iterator[float]:
    """A slider of the pipeline let go, to the sentence on the order of the steps."""
    opened(page, url, "sampling?part=pipeline&show=1&p=0.9", ".slide")
    yield from each(
        page,
        rounds,
        "async (i) => { const told = () => [...document.querySelectorAll('.lv-prose')].map((p)"
        " => p.textContent).find((text) => /The order/.test(text)); const before = told();"
        " const range = deep(\"input[aria-label='temperature']\")[0]; range.value = 14 + (i %"
        " 5) * 2; range.dispatchEvent(new Event('input')); await painted(); const since ="
        " performance.now(); range.dispatchEvent(new Event('change')); return until(() =>"
        " told() && told() !== before, since); }",
    )


def one_token(page: Page, url: str, rounds: int) -> Iterator[float]:
    """The button "One token", to the frame with it."""
    opened(page, url, "sampling?part=writing&written=0", ".press")
    yield from each(
        page,
        rounds,
        "() => { const text = deep('.text')[0]; const n = text.children.length; const since ="
        " performance.now(); deep('.press')[0].click(); return until(() =>"
        " text.children.length > n, since); }",
        rest=100,
    )


def two_hundred(page: Page, url: str, rounds: int) -> Iterator[float]:
    """The button "Write", to the last of 200 tokens."""
    for seed in range(100, 100 + max(1, rounds // 5)):
        opened(page, url, f"sampling?part=writing&written=0&seed={seed}", ".press")
        yield page.evaluate(
            "() => { const run = deep('.press.strong')[0]; const since = performance.now();"
            " run.click(); return until(() => run.disabled, since); }"
        )


def ten_thousand(page: Page, url: str, rounds: int) -> Iterator[float]:
    """The button "10,000 more", to the frame with their frequencies."""
    for seed in range(100, 100 + max(1, rounds // 2)):
        opened(page, url, f"sampling?part=dice&seed={seed}", ".row[data-count]")
        yield page.evaluate(
            "() => { const rows = deep('.rows')[0]; const sum = () => [...rows.querySelectorAll("
            "'.row[data-count]')].reduce((all, row) => all + Number(row.dataset.count), 0);"
            " const since = performance.now();"
            " [...document.querySelectorAll('button')].find((one) =>"
            " one.textContent.trim() === '10,000 more').click(); return until(() => sum() > 10000,"
            " since); }"
        )


Task = Callable[[Page, str, int], Iterator[float]]
TASKS: dict[str, tuple[Task, float]] = {
    "a new sentence, its matrices": (sentence, 110),
    "a step of the player": (stepping, 34),
    "a cell pointed at": (hovering, 34),
    "a stage of a block": (partial(stepping, path=f"{BLOCK}&stage=down"), 34),
    "a cell of a block": (partial(hovering, path=f"{BLOCK}&stage=down"), 34),
    "another head": (heads, 34),
    "8 × 8 heads of 64 × 64": (grid, 100),
    "a slider dragged, bars": (dragging, 34),
    "a slider let go, sentence": (releasing, 60),
    "another chapter": (another_chapter, 250),
    "a page from its link": (from_link, 900),
    "one token": (one_token, 50),
    "200 tokens, running": (two_hundred, 4_000),
    "10,000 draws": (ten_thousand, 200),
}


def timed(
    browser: Browser, name: str, limit: float, task: Callable[[Page], Iterator[float]]
) -> None:
    """Print what a task takes in a window of its own: the median, the smallest, the largest."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.add_init_script(HELPERS)
    times = list(task(context.new_page()))
    context.close()
    middle = statistics.median(times)
    print(
        f"{name:<32}{middle:8.1f} ms  ({min(times):.1f}-{max(times):.1f}, {len(times)} times)"
        f"   limit {limit:>6,.0f} ms   {middle / limit:5.2f}",
        flush=True,
    )


@contextmanager
def grid_bundled(folder: Path) -> Iterator[None]:
    """Let the app find the model `grid` beside the bundled ones."""
    bundled = ROOT / "data" / "checkpoints"
    os.environ["LLMVIZ_CHECKPOINTS"] = str(folder_with_grid(folder, bundled))
    yield
    del os.environ["LLMVIZ_CHECKPOINTS"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="the tasks whose name contains this")
    given = parser.parse_args()
    chromium = os.environ.get("LLMVIZ_CHROMIUM", "/usr/bin/chromium")
    with (
        TemporaryDirectory() as folder,
        grid_bundled(Path(folder)),
        sync_playwright() as playwright,
        server(ROOT / "app.py") as (url, _),
    ):
        wait_until_up(url)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, (task, limit) in TASKS.items():
            if given.only in name:
                timed(browser, name, limit, partial(task, url=url, rounds=given.rounds))
        browser.close()


if __name__ == "__main__":
    main()
