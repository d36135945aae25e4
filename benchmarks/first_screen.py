"""What stands on each chapter's first screen: where its picture begins, and the words above it.

    python -m benchmarks.first_screen [--only LESSON]

A server is started, one browser opens every chapter at 1440 × 900 and at 390 × 844. The aim: at
1440 the picture begins above pixel 475 and 280 pixels of it are in view, or all of a lower one, at
390 above 605, with at most 60 words, its question and the answers that fit into a line above it,
and the hand that answers is in view, too. A picture in parts is as tall as the block of its stage.
"""

from __future__ import annotations

import argparse
import os
import shutil
from typing import Any, NamedTuple

from playwright.sync_api import Page, ViewportSize, sync_playwright

from benchmarks.startup import FLAGS, ROOT, server, wait_until_up
from llmviz.course.lessons import LESSONS

WIDE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
FIND = """() => {
  const box = (e) => e.getBoundingClientRect();
  const all = (wanted) => [...document.querySelectorAll(wanted)];
  const stage = document.querySelector('[class*="st-key-lv-stage"], [class*="st-key-lv-stays"]');
  const within = (e) => stage && stage.contains(e);
  const first = all('.stMain [data-testid^=stBidi], .stMain .stPlotlyChart')
    .filter((e) => box(e).height >= (within(e) ? 40 : 100) && box(e).width >= 150)
    .sort((a, b) => box(a).top - box(b).top)[0];
  if (!first) return null;
  const found = { top: box(first).top, bottom: box(within(first) ? stage : first).bottom };
  const asked = all('.stMain .lv-ask')[0];
  const hand = asked && all('.stMain [class*="st-key-lv-guess"] .stRadio')[0];
  let words = 0;
  for (const e of all('.stMain .lv-prose p, .stMain h1, .stMain h2, .stMain label p'))
    if (box(e).height && box(e).bottom <= found.top + 1) words += e.innerText.split(/\\s+/).length;
  const drawn = all('[data-testid^=stBidi], [data-testid^=stBidi] > div');
  const handles = (e) => [...(e.shadowRoot ?? e).querySelectorAll('.handle, canvas.open')];
  const at = drawn.flatMap(handles)[0] ?? hand;
  return [found.top, Math.max(0, Math.min(found.bottom, innerHeight) - found.top), words,
    asked ? box(asked).bottom : 0, at ? box(at).top : 0, found.bottom - found.top];
}"""


class Screen(NamedTuple):
    """A first screen: where its picture begins, how many pixels of it show, the words above it.

    asked, hand: where its question ends, and where the handle or the answers begin; 0 without one.
    whole: how tall the picture is.
    """

    top: float
    in_view: float
    words: int
    asked: float = 0
    hand: float = 0
    whole: float = 0


def screen_of(page: Page) -> Screen:
    """Return what stands on the screen of an open page, once its picture does not move any more."""
    before: Any = None
    for _ in range(40):
        page.wait_for_timeout(250)
        found = page.evaluate(FIND)
        if found is not None and found == before:
            return Screen(*found)
        before = found
    return Screen(float("inf"), 0.0, 0)


def main() -> None:
    """Open all and print a line for each chapter, those that miss the aim marked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="a lesson")
    only = parser.parse_args().only
    chromium = os.environ.get("LLMVIZ_CHROMIUM") or shutil.which("chromium-headless-shell")
    missed = 0
    with server(ROOT / "app.py") as (url, _), sync_playwright() as playwright:
        wait_until_up(url)
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for lesson in LESSONS:
            for chapter in lesson.keys or [""]:
                if only and lesson.key not in only:
                    continue
                line = [f"{lesson.key}/{chapter}"]
                for size, most in ((WIDE, 475), (PHONE, 605)):
                    page = browser.new_page(viewport=size)
                    path = "" if lesson.key == "home" else lesson.key
                    page.goto(f"{url}/{path}{f'?part={chapter}' if chapter else ''}")
                    page.wait_for_selector("h1")
                    found = screen_of(page)
                    far = found.top > most or found.words > 60
                    far = far or max(found.asked, found.hand) > size["height"]
                    missed += far
                    line.append(
                        f"{found.top:.0f} px, {found.words} words, asked {found.asked:.0f}, "
                        f"hand {found.hand:.0f}{' MISSED' if far else ''}"
                    )
                    page.close()
                print(" · ".join(line), flush=True)
        browser.close()
    print(f"missed: {missed}")


if __name__ == "__main__":
    main()
