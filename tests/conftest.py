"""For all tests: where runs go, how many threads count, and how the work is shared out.

The whole suite runs in three processes: two drive a browser each, from one test to the next, the
third runs all pages without a browser, and each takes a part of the rest after that, a file at a
time. Three keep two cores busy, because a process that drives a browser waits for pages and servers
much of its time. Named tests (`pytest tests/nn`) run in this process alone.
"""

from __future__ import annotations

import atexit
import compileall
import contextlib
import gc
import importlib
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler.loadfile import LoadFileScheduling

# Runs that pages start or list are in a folder of the tests, never in `runs/`; and processes
# with as many threads each as there are cores would hold each other up. Set before anything is
# imported, so that servers that tests start have it too.
_folder = tempfile.mkdtemp(prefix="llmviz-runs-")
os.environ["LLMVIZ_RUNS"] = _folder
os.environ["LLMVIZ_TOKENS"] = str(Path(_folder) / ".tokens")
os.environ["LLMVIZ_MODELS"] = str(Path(_folder) / ".models")  # nothing that was fetched
os.environ["OMP_NUM_THREADS"] = "1"
# All pages under test are one visitor's, and some leave a computation behind that others wait for.
os.environ["LLMVIZ_BROWSER_JOBS"] = "1000"
# Nor does each process, of these and of those that tests start, compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A busy machine may hold up any example of a property for as long as it likes.
hypothesis.settings.register_profile("busy", deadline=None)
hypothesis.settings.load_profile("busy")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)


_main = sys.modules["__main__"]
# As in pyproject.toml: what `pytest` runs.
BY_ITSELF = "not pages and not browser and not rooms and not slow"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Let each test begin with the `__main__` that was there at first.

    A page under test leaves its own there, and processes that are started later would run it: a
    script that may be gone by then.
    """
    sys.modules["__main__"] = _main


def pytest_configure(config: pytest.Config) -> None:
    """Of what is named run pages, browser and rooms, too: only what is slow is asked for."""
    if config.args != config.getini("testpaths") and config.option.markexpr == BY_ITSELF:
        config.option.markexpr = "not slow"


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Three processes for the whole suite, none beside this one for what is named."""
    whole = config.args == config.getini("testpaths") and not config.option.keyword
    return 3 if whole and not config.option.collectonly else 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each of several processes prepare a part of the modules, and find the others prepared.

    All of them need all modules. In a fresh copy, much of the time that collecting takes is spent
    on compiling them and on rewriting the assertions of tests.
    """
    given = getattr(session.config, "workerinput", None)
    if given is None:
        return
    gc.disable()  # what is imported stays; `pytest_collection_finish` switches it on again
    part = slice(int(given["workerid"].removeprefix("gw")), None, given["workercount"])
    for path in MODULES[part]:
        compileall.compile_file(path, quiet=1)
    for path in TEST_FILES[part]:
        if pytest_ignore_collect(path, session.config):
            continue
        with contextlib.suppress(pytest.skip.Exception):  # it is told where tests are collected
            importlib.import_module(module_name(path))


def module_name(path: Path) -> str:
    """The name by which a file of the project is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was imported and collected by now, and come less
    often: it takes a tenth of the processor's time else."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


# Of the files that open chapters, those that come first: what a lesson computes once for all is
# kept then, and is there for the others.
FIRST_PAGES = ("tests/pages/test_every_page.py", "tests/pages/test_reruns.py")
# Files that take long with few tests, most by the processes that they start: of the second tier,
# and early in it, so that no process is left alone with one.
LONG = (
    "tests/runs/test_worker_orphans.py",
    "tests/runs/test_worker.py",
    "tests/training/test_export.py",
    "tests/test_cli.py",
    "tests/finetuning/test_runs.py",
    "tests/test_cli_option_names.py",
    "tests/training/test_distributed.py",
    "tests/test_package.py",
    "tests/test_deploy.py",
    "tests/test_adding.py",
    "tests/training/test_memory.py",
    "tests/training/test_estimate.py",
    "tests/sampling/test_speculative.py",
    "tests/test_extras.py",
    "tests/serving/test_schedules.py",
    *(
        f"tests/test_cli_{what}.py"
        for what in ("folders", "help", "line", "refusals", "room", "study", "wrong_lines")
    ),
)
# Rooms whose tests take long and which a change elsewhere leaves as they are: name the room, or
# `-m rooms`. What the other folders hold is run before each commit.
ROOMS = (
    *(f"tests/course/{room}/" for room in ("lessons", "site")),
    *(
        f"tests/{room}/"
        for room in (
            "corpus",
            "evaluation",
            "files",
            "finetuning",
            "interpretability",
            "language",
            "obtainable",
            "parallel",
            "processes",
            "publishing",
            "quantization",
            "serving",
            "similarity",
        )
    ),
)
ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "llmviz").rglob("*.py"))
TEST_FILES = sorted((ROOT / "tests").rglob("test_*.py"))
# Of `tests/browser`, those whose windows look at another server than the app as it is.
OTHER_SERVERS = {
    path.name
    for path in TEST_FILES
    if path.parent.name == "browser" and "def address(" in path.read_text("utf-8")
}
OPENED_ONCE = "tests/pages/test_every_page.py"  # one opening of every page: with the engine's
# The files that run pages of the app in their own process.
PAGES = {
    path.relative_to(ROOT).as_posix()
    for path in TEST_FILES
    if path.parent.name == "pages" or "from tests.pages.harness import" in path.read_text("utf-8")
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Read no file of which nothing would run: that takes a third of what `pytest` alone takes."""
    if config.option.markexpr != BY_ITSELF or ROOT not in collection_path.parents:
        return None
    name = collection_path.relative_to(ROOT).as_posix()
    return kind(f"{name}/" if collection_path.is_dir() else name) is not None or None


def kind(file: str) -> str | None:
    """The mark that all tests of a file have by its place; None: it is run before each commit."""
    if file in LONG:
        return "slow"
    if file.startswith(("tests/browser/", "tests/classroom/")):
        return "browser"
    if file in PAGES and file != OPENED_ONCE:
        return "pages"
    return "rooms" if file.startswith(ROOMS) else None


class ByFile(LoadFileScheduling):
    """Keeps together what shares a model or a folder; all that shares a server: `tests/browser`,
    in two parts, and `tests/classroom`; and all that opens chapters in its own process, which finds
    kept there what other tests of the same chapter had computed. What takes longest is handed out
    first.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        config.option.loadscopereorder = False  # it would put files with many tests first
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        if file.startswith("tests/browser/"):
            return f"browser {Path(file).name in OTHER_SERVERS}"
        if file.startswith("tests/classroom/"):
            return "classroom"
        return "pages" if file in PAGES else file


@pytest.hookimpl(tryfirst=True)  # before those without the wanted marks are left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Browsers first, then pages, then what takes long, then the files with the most tests.

    Pages stay in the order of their names, a lesson's beside each other. One of the second tier,
    where processes start, are stopped and killed beside others, is tried again once; the report
    names it and says why (RERUN).
    """
    for item in items:
        file = item.nodeid.partition("::")[0]
        mark = kind(file)
        if mark == "slow" or item.get_closest_marker("slow"):
            item.add_marker("slow")
            item.add_marker(pytest.mark.flaky(reruns=1))
        elif mark:
            item.add_marker(mark)
    if not hasattr(config, "workerinput"):  # this process is alone
        return
    counts = Counter(item.nodeid.partition("::")[0] for item in items)

    def place(item: pytest.Item) -> tuple[int, int]:
        file = item.nodeid.partition("::")[0]
        if file.startswith("tests/browser/"):
            return 0, 0
        if file in PAGES:
            return 1, FIRST_PAGES.index(file) if file in FIRST_PAGES else len(FIRST_PAGES)
        if file.startswith("tests/classroom/"):
            return 2, -1
        return (2, LONG.index(file)) if file in LONG else (3, -counts[file])

    items.sort(key=place)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """How the tests are shared out."""
    return ByFile(config, log)


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name each test that needed another try, after all else that is said of them."""
    again = Counter(report.nodeid for report in terminalreporter.stats.get("rerun", []))
    if not again:
        return
    terminalreporter.write_sep("=", "needed another try")
    for name, times in sorted(again.items()):
        terminalreporter.write_line(f"{name}: tried {times + 1} times")


@pytest.fixture
def text(tmp_path):
    """A file to train on, for a test that is not about its text."""
    path = tmp_path / "any.txt"
    path.write_text("The cat sat on the mat. The dog sat on the cat.\n" * 60, encoding="utf-8")
    return path


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let the processes that a test starts hear Ctrl-C, also where these tests do not.

    A shell script ignores SIGINT for what it starts in the background, and a process inherits what
    is ignored. What is handled it does not inherit: it begins with the default.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def same_threads():
    """Give torch the threads back that it had: their number decides the last bit of a sum."""
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else int(os.environ["OMP_NUM_THREADS"])
    yield
    torch = sys.modules.get("torch")
    if torch and torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
