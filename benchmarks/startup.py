"""From `streamlit run` to the title in the browser: this app beside an empty Streamlit app.

    python benchmarks/startup.py [--runs 5]

Each run starts a cold server process and a cold browser window, the two apps in turns, and takes
the time until the title stands in the page. The ratio of the medians is to be at most 1.3.
Also printed: when the tokens stand, and when the model has filled in the picture.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
EMPTY = 'import streamlit as st\n\nst.title("Empty")\n'
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
GOAL = 1.3
TITLE, TOKENS, PICTURE = "h1", ".chip", ".band"


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def server(script: Path) -> Iterator[tuple[str, float]]:
    """Start a script; yield its address and when the process was begun."""
    port = free_port()
    options = {"port": port, "address": "127.0.0.1", "headless": "true", "fileWatcherType": "none"}
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    for name, value in options.items():
        command += [f"--server.{name}", str(value)]
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield f"http://127.0.0.1:{port}", begun
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_up(url: str) -> None:
    """Return once the server answers."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    raise RuntimeError("the server did not start within two minutes")


def seconds(browser: Browser, script: Path, marks: tuple[str, ...]) -> dict[str, float]:
    """Return when each mark stood in the page, in seconds after the process was begun."""
    with server(script) as (url, begun):
        wait_until_up(url)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(url)
        found = {}
        for mark in marks:
            page.wait_for_selector(mark, timeout=120_000, state="attached")
            found[mark] = time.perf_counter() - begun
        context.close()
        return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="cold starts of each app")
    runs = parser.parse_args().runs
    chromium = os.environ.get("LLMVIZ_CHROMIUM", "/usr/bin/chromium")
    has_model = any((ROOT / "data" / "checkpoints").glob("*/card.json"))
    marks = (TITLE, TOKENS, PICTURE) if has_model else (TITLE, TOKENS)
    empty: list[float] = []
    ours: dict[str, list[float]] = {mark: [] for mark in marks}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for run in range(runs + 1):
            alone = seconds(browser, script, (TITLE,))[TITLE]
            times = seconds(browser, ROOT / "app.py", marks)
            if run == 0:
                continue  # the first pays for reading files from the disk
            empty.append(alone)
            for mark, taken in times.items():
                ours[mark].append(taken)
        browser.close()
    base = statistics.median(empty)
    medians = {mark: statistics.median(taken) for mark, taken in ours.items()}
    ratio = medians[TITLE] / base
    print(
        f"empty app, title    {base:6.2f} s  (median of {runs}, {min(empty):.2f}-{max(empty):.2f})"
    )
    for mark, name in ((TITLE, "title"), (TOKENS, "tokens"), (PICTURE, "whole picture")):
        if mark in medians:
            low, high = min(ours[mark]), max(ours[mark])
            print(f"llmviz, {name:13s} {medians[mark]:6.2f} s  ({low:.2f}-{high:.2f})")
    print(f"title, llmviz / empty: {ratio:.2f} (goal: at most {GOAL})")


if __name__ == "__main__":
    main()
