"""Every picture of the course leaves the app in every form, and its saved page is the same offline.

    python -m benchmarks.every_picture [--only attention] [--only home]

A server of its own and a headless Chromium. Each picture is saved as numbers, image, drawing where
it is one, and page. The page is opened from the disk without a network and moved by the keyboard,
as the app's picture is; then both say the same words and numbers. Prints a line for each picture:
seconds in the browser for each form, seconds until the page is drawn, and what is wrong.
"""

from __future__ import annotations

import argparse
import os
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Error, Page, sync_playwright

from benchmarks.startup import FLAGS, ROOT, server, wait_until_up
from llmviz.course.lessons import LESSONS

CALM = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  const busy = document.querySelector('[data-testid=stStatusWidgetRunningIcon]');
  if (busy || app?.dataset.testScriptState !== 'notRunning') window.busy = performance.now();
  return performance.now() - (window.busy ??= performance.now()) >= 700;
}"""
# Moves what the keyboard moves in a picture, and returns its texts and its height.
DRIVEN = """async (root) => {
  const frame = () => new Promise(requestAnimationFrame);
  const press = (node, key) =>
    node.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  for (const range of root.querySelectorAll(".player .scrub")) press(range, "End");
  await frame();
  const canvas = [...root.querySelectorAll("canvas[tabindex='0']")].at(-1);
  canvas?.focus();
  for (const key of ["ArrowDown", "ArrowLeft"]) if (canvas) press(canvas, key);
  for (let i = 0; i < 8; i++) await frame();
  const texts = [];
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const holder = walk.currentNode.parentElement;
    if (holder.checkVisibility() && !holder.closest("style, button"))
      texts.push(walk.currentNode.data.trim());
  }
  return texts.filter(Boolean);
}"""
CHART = "(graph) => graph._fullData.map(({ x, y, z }) => [x, y, z].map((one) => one?.length ?? 0))"
PICTURE = "llmvizSaver.menu.picture"


def save(page: Page, form: str, folder: Path) -> tuple[Path, float]:
    """Choose a form in the open menu; return the file and the seconds that it took."""
    begun = time.perf_counter()
    with page.expect_download(timeout=30_000) as given:
        page.locator(f".menu .item[data-form={form}]").evaluate("item => item.click()")
    took = time.perf_counter() - begun
    path = folder / given.value.suggested_filename
    given.value.save_as(path)
    return path, took


def offline(browser: Browser, path: Path, width: float, chart: bool) -> tuple[Any, float, list]:
    """Open a saved page without a network; return what it shows, and what goes wrong."""
    context = browser.new_context(offline=True, viewport={"width": 1600, "height": 900})
    page, wrong = context.new_page(), []
    page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    begun = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    took = time.perf_counter() - begun
    page.evaluate(
        "(width) => (document.getElementById('picture').style.width = `${width}px`)", width
    )
    page.wait_for_timeout(200)
    if chart:
        shown = page.locator("#picture").evaluate(CHART)
    else:
        shown = page.locator("#picture .lv").last.evaluate(DRIVEN)
    context.close()
    return shown, took, wrong


def pictures_of(page: Page) -> int:
    """Return how many pictures a page has, once none has come for two seconds."""
    count, calm = 0, 0
    while calm < (4 if count else 16):
        page.wait_for_timeout(500)
        now = page.locator(".save").count()
        calm = calm + 1 if now == count else 0
        count = now
    return count


def leave(browser: Browser, page: Page, at: int, folder: Path) -> str:
    """Save one picture of a page in all forms; return its line."""
    page.locator(".save").nth(at).evaluate("button => button.click()")
    key, chart, flat = page.evaluate(f"[{PICTURE}.key, Boolean({PICTURE}.graph), {PICTURE}.flat]")
    kind = "chart" if chart else page.evaluate(f"{PICTURE}.entry.component.name")
    width = page.evaluate(f"({PICTURE}.graph ?? {PICTURE}.node).getBoundingClientRect().width")
    line, wrong = [], []
    for form in ["csv", "png", "html", *(["svg"] if flat else [])]:
        path, took = save(page, form, folder)
        line.append(f"{form} {took:.2f} s {path.stat().st_size / 1000:.0f} KB")
        if form == "html":
            saved = path
    handle = page.evaluate_handle(f"{PICTURE}.graph ?? {PICTURE}.node")
    page.keyboard.press("Escape")
    shown = handle.evaluate(CHART if chart else DRIVEN)
    again, opened, wrong = offline(browser, saved, width, chart)
    if shown != again:
        more = [one for one in shown if one not in again][:3]
        less = [one for one in again if one not in shown][:3]
        wrong.append(f"app {more}, page {less}")
    return f"{key} ({kind}) {', '.join(line)}; opened {opened:.2f} s {wrong or ''}"


def main() -> None:
    """Save all and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="a lesson")
    only = parser.parse_args().only
    chromium = os.environ.get("LLMVIZ_CHROMIUM") or shutil.which("chromium-headless-shell")
    with server(ROOT / "app.py") as (url, _), sync_playwright() as playwright:
        wait_until_up(url)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for lesson in LESSONS:
            for chapter in lesson.keys or [""]:
                if only and lesson.key not in only:
                    continue
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                path = "" if lesson.key == "home" else lesson.key
                page.goto(f"{url}/{path}?show=1{f'&part={chapter}' if chapter else ''}")
                page.wait_for_selector("h1")
                page.wait_for_function(CALM)
                for at in range(pictures_of(page)):
                    with TemporaryDirectory() as folder:
                        try:
                            line = leave(browser, page, at, Path(folder))
                        except Error as error:
                            line = f"picture {at} FAILED {str(error)[:200]}"
                            page.keyboard.press("Escape")
                    print(f"{lesson.key}/{chapter} {line}", flush=True)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
