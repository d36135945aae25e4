"""What goes through the pipes to a process comes back as it was, under every code page."""

from __future__ import annotations

import queue
import sys

import pytest

from llmviz.training.worker_pool import WorkerProcess

ECHO = """
import sys
from llmviz.child import serve_parent
told = serve_parent(0, encoding="utf-8")
for line in sys.stdin:
    told.write(line)
    told.flush()
"""


@pytest.mark.parametrize("page", ["cp1252", "cp437", "cp1251", "ascii", "utf-8"])
def test_a_text_goes_to_the_worker_and_back_unchanged_under_any_code_page(monkeypatch, page):
    monkeypatch.setenv("PYTHONIOENCODING", page)
    heard, text = queue.Queue(), "Zoë → ☃ 🙂"
    worker = WorkerProcess(
        lambda _, line: heard.put(line),
        lambda _, line: heard.put({"text": line}),
        (sys.executable, "-c", ECHO),
    )
    worker.give(text=text)
    assert heard.get(timeout=60)["text"] == text
    worker.close()
    assert worker.wait(60)
