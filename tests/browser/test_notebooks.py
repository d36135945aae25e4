"""A picture in the notebooks that people use, in a real browser: JupyterLab and marimo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.startup import ROOT, free_port
from tests.browser.hand import until

pytestmark = pytest.mark.slow  # of the second tier

CODE = 'import llmviz\n\nllmviz.show.attention("names-gpt", "anna <b>")'
READY = 120  # seconds: until a notebook's server answers, and until its picture is drawn


@contextmanager
def served(folder: Path, *command: str):
    """Run a notebook's server in a folder; yields where it answers."""
    port = free_port()
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *command, f"--port={port}"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(folder / ".j")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    address, end = f"http://127.0.0.1:{port}", time.monotonic() + READY
    try:
        while True:
            try:
                urllib.request.urlopen(address, timeout=5)
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < end, "the server is not there"
                time.sleep(0.3)
        yield address
    finally:
        server.terminate()
        server.wait(30)


def draws_and_follows_the_hand(page: Page) -> None:
    """Fail unless the picture is drawn, says the text as text, and a click opens a head."""
    heads = page.locator(".lv canvas.heads")
    expect(heads).to_be_visible(timeout=1000 * READY)
    told = page.locator(".lv .told").first
    until(page, lambda: "layer 0, head 0" in told.inner_text())
    box = heads.bounding_box()
    heads.click(position={"x": 0.95 * box["width"], "y": 0.9 * box["height"]})
    until(page, lambda: "layer 1, head 3" in told.inner_text())


def test_a_picture_is_alive_in_jupyterlab(computing_browser, tmp_path):
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "source": CODE}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    cells = [cell | {"execution_count": None}]
    (tmp_path / "a.ipynb").write_text(json.dumps(whole | {"cells": cells}), encoding="utf-8")
    options = ("--no-browser", "--allow-root", "--IdentityProvider.token=")
    with served(tmp_path, "jupyterlab", *options, "--ServerApp.ip=127.0.0.1") as address:
        page = computing_browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{address}/lab/tree/a.ipynb?reset")
        # A cell that is run before the kernel is there is not run.
        expect(page.get_by_text("| Idle")).to_be_visible(timeout=1000 * READY)
        page.locator(".jp-CodeCell .cm-content").first.click(timeout=1000 * READY)
        page.keyboard.press("Shift+Enter")
        draws_and_follows_the_hand(page)
        page.close()


def test_a_picture_is_alive_in_marimo(computing_browser, tmp_path):
    body = "".join(f"    {line}\n" if line else "\n" for line in CODE.splitlines())
    (tmp_path / "a.py").write_text(
        f"import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n{body}    return\n",
        encoding="utf-8",
    )
    options = ("run", "a.py", "--headless", "--no-token", "--host=127.0.0.1")
    with served(tmp_path, "marimo", *options) as address:
        page = computing_browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        draws_and_follows_the_hand(page)
        page.close()
