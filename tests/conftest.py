"""For all tests: where runs go, how many threads count, and how the work is shared out.

The whole suite runs in two processes: one drives the browser, from one test to the next, the other
does the rest, a file at a time. Named tests (`pytest tests/nn`) run in this process alone.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest

# Runs that pages start or list are in a folder of the tests, never in `runs/`; and two processes
# with as many threads each as there are cores would hold each other up. Set before anything is
# imported, so that servers that tests start have it too.
_folder = tempfile.mkdtemp(prefix="llmviz-runs-")
os.environ["LLMVIZ_RUNS"] = _folder
os.environ["OMP_NUM_THREADS"] = "1"
atexit.register(shutil.rmtree, _folder, ignore_errors=True)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes for the whole suite, none beside this one for what is named."""
    whole = config.args == config.getini("testpaths") and not config.option.keyword
    return 2 if whole and not config.option.collectonly else 0


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests together that share a server, a browser or a model."""
    for item in items:
        file = item.nodeid.split("::")[0]
        group = "browser" if file.startswith("tests/browser/") else file
        item.add_marker(pytest.mark.xdist_group(group))
