"""The README's moving picture: what a hand does in the app, as an animated WebP.

    python -m benchmarks.moving_picture [docs/llmviz.webp]

A server of its own and a headless Chromium: the sentence's path through the machine lights up token
by token, then the temperature of the next token moves.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from benchmarks.startup import FLAGS, ROOT, server, wait_until_up

SHRUNK = 0.7
LARGEST = 2_000_000  # bytes
MOVES = 9  # of the slider, each way


def tokens_light_up(page: Page, url: str) -> Iterator[int]:
    """Point at each token in turn; yield how long, in milliseconds, each sight stays."""
    page.goto(f"{url}/?embed=home.machine")
    chips = page.locator(".chip:not(.ghost)")
    chips.first.wait_for()
    page.wait_for_timeout(3000)
    yield 900
    for number in range(1, chips.count(), 2):
        chips.nth(number).hover()
        page.wait_for_timeout(300)
        yield 700


def temperature_moves(page: Page, url: str) -> Iterator[int]:
    """Move the slider of the temperature step by step."""
    page.goto(f"{url}/sampling?part=temperature&show=1")
    slider = page.locator("input[type=range]").first
    slider.wait_for()
    page.wait_for_timeout(3000)
    yield 1200
    slider.focus()
    for key in ("ArrowLeft", "ArrowRight", "ArrowRight"):
        for _ in range(MOVES):
            page.keyboard.press(key)
            page.wait_for_timeout(80)
            yield 140
        yield 600


def film(url: str) -> tuple[list[Image.Image], list[int]]:
    """Return the sights of both scenes, and how long each stays."""
    chromium = os.environ.get("LLMVIZ_CHROMIUM") or shutil.which("chromium-headless-shell")
    sights, times = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1240, "height": 720})
        for scene in (tokens_light_up, temperature_moves):
            for time in scene(page, url):
                sight = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                size = (round(sight.width * SHRUNK), round(sight.height * SHRUNK))
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
