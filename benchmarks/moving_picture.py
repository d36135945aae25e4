"""The README's moving picture: what a hand does in the app, as an animated WebP.

    python -m benchmarks.moving_picture [docs/llmviz.webp]

A server of its own and a headless Chromium, in five scenes: a sentence is typed and goes through
the machine, a guess is dragged on the picture and answered, words ask in a step of attention, the
way of a training is drawn and compared, and the temperature of the next token moves.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from benchmarks.startup import FLAGS, ROOT, server, wait_until_up

SIDEBAR = 300  # pixels that are left out
WINDOW = {"width": 1300, "height": 820}
WIDTH = 860  # of the film, in pixels: letters stay nearly as large as they are
TYPED = (
    "It was Monday, and Ida the baker felt sad. They met at the harbour. And where was Ida? At the"
)
# What stands above a page and is no part of it: Streamlit's menu, and its "Stop" while it works.
BARE = "[data-testid=stToolbar], [data-testid=stStatusWidget] { display: none !important }"
STYLE = f"""document.addEventListener("DOMContentLoaded", () => {{
    document.head.appendChild(document.createElement("style")).textContent = {json.dumps(BARE)};
}})"""
LARGEST = 2_000_000  # bytes
STAGE = "[class*='st-key-lv-st']"


def opened(page: Page, address: str) -> Locator:
    """Open a page; return its stage when it stands."""
    page.goto(address)
    stage = page.locator(STAGE).first
    stage.wait_for()
    page.wait_for_timeout(4000)
    return stage


def dragged(page: Page, canvas: Locator, way: list[tuple[float, float]]) -> Iterator[int]:
    """Draw with the mouse; way: places in widths and heights of the canvas."""
    canvas.scroll_into_view_if_needed()
    frame = canvas.bounding_box()
    for number, (across, down) in enumerate(way):
        page.mouse.move(frame["x"] + across * frame["width"], frame["y"] + down * frame["height"])
        if not number:
            page.mouse.down()
        page.wait_for_timeout(120)
        yield 160
    page.mouse.up()
    yield 500


def answered(page: Page) -> Iterator[int]:
    """Give the guess and see the answer."""
    page.get_by_role("button", name="That is my guess").first.click()
    page.wait_for_timeout(3000)
    yield 2600


def machine_runs(page: Page, url: str) -> Iterator[int]:
    """Type a sentence and play its way through the machine; yield how long each sight stays, ms."""
    page.goto(url)
    page.locator(".chip:not(.ghost)").first.wait_for()
    page.wait_for_timeout(4000)
    yield 1200
    box = page.get_by_role("textbox").first
    box.click()
    box.press("ControlOrMeta+a")
    for at in range(0, len(TYPED), 4):  # a sight of every few letters
        box.press_sequentially(TYPED[at : at + 4])
        yield 180
    box.press("ControlOrMeta+Enter")
    page.wait_for_timeout(4000)
    yield 1800
    page.get_by_role("slider", name="step").first.press("Home")
    onward = page.get_by_role("button", name="one step on").first
    while onward.is_enabled():
        page.wait_for_timeout(900)
        yield 650
        onward.click()
    page.wait_for_timeout(900)
    yield 1800


def guess_is_dragged(page: Page, url: str) -> Iterator[int]:
    """Drag the handle of a guess along its axis, and see the answer."""
    stage = opened(page, f"{url}/embeddings?part=similarity")
    yield 1400
    yield from dragged(page, stage.locator("input.handle"), [(x / 20, 0.5) for x in range(10, 16)])
    yield from answered(page)


def curve_is_drawn(page: Page, url: str) -> Iterator[int]:
    """Draw how a curve goes on, and see how it went."""
    stage = opened(page, f"{url}/training?part=curves")
    yield 1400
    way = [(0.36, 0.5), (0.45, 0.56), (0.55, 0.6), (0.65, 0.62), (0.8, 0.64), (0.98, 0.65)]
    yield from dragged(page, stage.locator("canvas").first, way)
    yield from answered(page)


def words_ask(page: Page, url: str) -> Iterator[int]:
    """Let one word after the other ask in a step of attention."""
    opened(page, f"{url}/attention?part=steps&show=1")
    yield 1200
    for word in ("The", "cat", "sat"):
        page.get_by_role("button", name=word, exact=True).first.click()
        page.wait_for_timeout(1500)
        yield 1100


def temperature_moves(page: Page, url: str) -> Iterator[int]:
    """Move the slider of the temperature step by step."""
    opened(page, f"{url}/sampling?part=temperature&show=1")
    yield 1200
    page.locator("input[type=range]").first.focus()
    for key, times in (("ArrowLeft", 7), ("ArrowRight", 16)):
        for _ in range(times):
            page.keyboard.press(key)
            page.wait_for_timeout(80)
            yield 130
        yield 900


SCENES = (machine_runs, guess_is_dragged, words_ask, curve_is_drawn, temperature_moves)


def film(url: str) -> tuple[list[Image.Image], list[int]]:
    """Return the sights of all scenes, and how long each stays."""
    chromium = os.environ.get("LLMVIZ_CHROMIUM") or shutil.which("chromium-headless-shell")
    sights, times = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport=WINDOW)
        page.add_init_script(STYLE)
        for scene in SCENES:
            for time in scene(page, url):
                sight = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                sight = sight.crop((SIDEBAR, 0, *sight.size))
                size = (WIDTH, round(sight.height * WIDTH / sight.width))
                sights.append(sight.resize(size, Image.Resampling.LANCZOS))
                times.append(time)
        browser.close()
    return sights, times


def main() -> None:
    """Take the pictures and write them as one file."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "llmviz.webp"
    with server(ROOT / "app.py") as (url, _):
        wait_until_up(url)
        sights, times = film(url)
    more = {"save_all": True, "append_images": sights[1:], "duration": times, "loop": 0}
    file = io.BytesIO()
    sights[0].save(file, "WEBP", quality=70, **more)
    if file.tell() > LARGEST:
        raise SystemExit(f"{file.tell():,} bytes are more than {LARGEST:,}")
    out.write_bytes(file.getvalue())
    print(f"{out}: {len(sights)} sights, {file.tell():,} bytes")


if __name__ == "__main__":
    main()
