"""How soon the film of BPE training stands repainted after a key press, in a real browser.

    python benchmarks/film.py [--presses 50]

Opens the lesson at a vocabulary of 1,024 on the bundled stories, presses the right arrow, and
measures from the key event's own time stamp to the end of the frame that follows it. Prints the
median and the 95th percentile.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

WATCH = """() => {
  window.repainted = [];
  document.addEventListener('keydown', (event) => {
    // After the frame that the key caused has been handed to the screen.
    requestAnimationFrame(() => setTimeout(
      () => window.repainted.push(performance.now() - event.timeStamp)));
  }, true);
}"""


def measure(presses: int) -> list[float]:
    """Return the milliseconds from each key press to the repainted film."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, FLAGS, app, make_visit

    with app() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        visit = make_visit(browser, url)
        visit.open("tokenization?part=learn&size=1024&step=0&show=1")
        scrub = visit.page.locator(".scrub").first
        scrub.wait_for()
        scrub.focus()
        visit.page.evaluate(WATCH)
        for _ in range(presses):
            visit.page.keyboard.press("ArrowRight")
            visit.page.wait_for_timeout(120)
        shown = visit.page.locator(".count").first.inner_text()
        if not shown.startswith(f"{presses} "):
            raise SystemExit(f"the film stands at {shown} after {presses} key presses")
        times = visit.page.evaluate("window.repainted")
        browser.close()
    return times


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=50)
    arguments = parser.parse_args()
    times = sorted(measure(arguments.presses))
    late = times[min(len(times) - 1, round(0.95 * len(times)))]
    print(f"film, vocabulary 1,024: key press to repainted, {len(times)} presses")
    print(f"median {statistics.median(times):.1f} ms   95th percentile {late:.1f} ms")


if __name__ == "__main__":
    main()
