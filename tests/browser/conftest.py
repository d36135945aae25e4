"""A running app and a real browser for the tests in this folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from llmviz.files.paths import BUNDLED_CHECKPOINTS
from tests.browser.hand import NOTE_MESSAGES, settle
from tests.pages.small_model import make_checkpoint
from tests.published_models import Hub, serve

ROOT = Path(__file__).parents[2]
NOT_AHEAD = Path(__file__).parent / "apps" / "not_ahead"
# The shell is the same engine without the windows and menus around it: an eighth less work.
CHROMIUM = (
    os.environ.get("LLMVIZ_CHROMIUM")
    or shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
    or ""
)
REQUIRED = os.environ.get("LLMVIZ_BROWSER_REQUIRED") == "1"
HEIGHT = 900  # of a window
PATIENCE = 90_000  # milliseconds that anything may take on a busy machine
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No other host is ever found, whether there is a network or not: see `on_failed`.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-features=ScriptStreaming",
    "--disable-threaded-animation",
]
SCRIPTS = "--max-lazy --single-threaded-gc --min-semi-space-size=32 --max-semi-space-size=64"
# A page of the app is looked at for a second: what is done for speed later, or beside, takes longer
# than it saves, a sixth of an opening. Pages that run a model by themselves take up to four times
# as long without the compiler that optimizes.
AT_ONCE = f"--js-flags={SCRIPTS} --no-opt --no-maglev"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test here, and skip it with a reason where no browser is to be had.

    One that fails is tried again, twice at most: a browser, a server and trainings share few cores
    with the other tests, and what came too late is no fault of the page. The report names it and
    says why (RERUN).
    """
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=2))
            if not CHROMIUM and not REQUIRED:
                item.add_marker(
                    pytest.mark.skip(reason="no Chromium on PATH and LLMVIZ_CHROMIUM not set")
                )


@dataclass
class Visit:
    """One browser page and what went wrong in it."""

    page: object
    url: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    crashed: bool = False
    theme: str = ""  # as the window has it

    def dress(self, theme: str, width: int) -> None:
        """Give the window a theme and a width, as the learner's system and hand do."""
        if theme != self.theme:
            self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            self.theme = theme
        self.page.set_viewport_size({"width": width, "height": HEIGHT})

    def open(self, path: str = "", wait_for: str = "h1") -> None:
        """Open a path of the app and wait until a part of it stands and the script has ended."""
        self.page.goto(f"{self.url}/{path}")
        self.page.wait_for_selector("h1")
        self.page.wait_for_selector(wait_for)
        self.settle()

    def settle(self) -> None:
        """Wait until the app runs no script and is asked for none."""
        settle(self.page)

    def assert_clean(self) -> None:
        """Fail if the page showed an exception, logged an error or asked another host."""
        exceptions = self.page.locator("[data-testid=stException]").all_inner_texts()
        assert exceptions == []
        assert self.errors == []
        assert self.foreign == []


def opener(window: Visit, page: str, always: str = "") -> Callable[..., Any]:
    """Return what opens a chapter of a page in a fresh session and waits for a part of it.

    always: a query that every chapter is opened with.
    """

    def open_at(query: str, wait_for: str) -> Any:
        window.page.goto("about:blank")
        window.open(f"{page}?{always}{query}", wait_for)
        return window.page

    return open_at


@contextmanager
def app(
    script: Path = ROOT / "app.py",
    *,
    folder: Path = ROOT,
    options: Sequence[str] = ("--server.fileWatcherType", "none"),
    ahead: bool = True,
    **environment: str,
) -> Iterator[str]:
    """A Streamlit server on a free port, for as long as the block runs; gives its address.

    folder: where llmviz is imported from. ahead: whether it computes what all chapters want, before
    somebody asks for it.
    """
    path = str(folder) if ahead else f"{NOT_AHEAD}{os.pathsep}{folder}"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "streamlit", "run", str(script)),
            *("--server.port", str(port), "--server.address", "127.0.0.1"),
            *options,
        ],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for_health(url)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:  # it was asked kindly
            server.kill()
            server.wait()


def wait_for_health(url: str) -> None:
    """Return once the server answers."""
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the app did not start within {PATIENCE // 1000} seconds")


@pytest.fixture(scope="session")
def app_url() -> Iterator[str]:
    """The address of the app, started once for all browser tests."""
    with app() as url:
        yield url


@pytest.fixture(scope="session")
def small_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoints: one small model that reads texts as long as the bundled one reads,
    and the bundled ones that name people."""
    folder = tmp_path_factory.mktemp("checkpoints")
    make_checkpoint(folder, context=256)
    for bundled in BUNDLED_CHECKPOINTS.glob("names-*"):
        shutil.copytree(bundled, folder / bundled.name)
    return folder


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app of `small_url` keeps its runs."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def hub() -> Iterator[Hub]:
    """The hub of published models that the app of `small_url` asks."""
    hub = Hub()
    with serve(hub):
        yield hub


@pytest.fixture(scope="session")
def small_url(
    small_models: Path, runs_folder: Path, hub: Hub, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of an app with a small model for the large ones, and with runs of its own.

    Started once for all that ask: a server imports torch and all chapters, which takes ten
    seconds. So who starts a run there also stops it.
    """
    with app(
        ahead=False,
        LLMVIZ_CHECKPOINTS=str(small_models),
        LLMVIZ_RUNS=str(runs_folder),
        LLMVIZ_MAX_RUNS="2",
        HF_ENDPOINT=hub.url,
        HF_HUB_CACHE=str(tmp_path_factory.mktemp("hub")),
    ) as url:
        yield url


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[[str], object]]:
    """Starts a headless Chromium with an option more."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium
        yield lambda option: chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, option])


@pytest.fixture(scope="session")
def browser(launch: Callable[[str], object]) -> Iterator[object]:
    """A browser for pages of the app."""
    chromium = launch(AT_ONCE)
    yield chromium
    chromium.close()


@pytest.fixture(scope="session")
def computing_browser(launch: Callable[[str], object]) -> Iterator[object]:
    """A browser for pages that run a model by themselves."""
    chromium = launch(f"--js-flags={SCRIPTS}")
    yield chromium
    chromium.close()


def make_visit(
    browser: object, url: str, theme: str = "light", width: int = 1440, *, touch: bool = False
) -> Visit:
    """Open a fresh browser window that notes errors and requests to other hosts."""
    context = browser.new_context(
        viewport={"width": width, "height": HEIGHT},
        color_scheme=theme,
        reduced_motion="reduce",
        has_touch=touch,
    )
    context.set_default_timeout(PATIENCE)
    context.add_init_script(NOTE_MESSAGES)
    visit = Visit(context.new_page(), url)

    def on_console(message: object) -> None:
        if message.type == "error":
            visit.errors.append(message.text)

    def on_failed(request: object) -> None:
        """Note a request to another host. It fails; hearing only of those that fail is cheap."""
        if request.url.startswith("http") and not request.url.startswith(visit.url):
            visit.foreign.append(request.url)

    visit.page.on("console", on_console)
    visit.page.on("pageerror", lambda error: visit.errors.append(str(error)))
    visit.page.on("requestfailed", on_failed)
    visit.page.on("crash", lambda: setattr(visit, "crashed", True))
    return visit


def leave(visit: Visit) -> None:
    """Leave nothing in a window of what a test did there, but keep the scripts that it loaded."""
    page = visit.page
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.goto("about:blank")
    page.unroute_all()
    page.mouse.move(2, 2)
    page.set_default_timeout(PATIENCE)
    page.context.clear_cookies()
    visit.errors.clear()
    visit.foreign.clear()


@pytest.fixture(scope="session")
def windows(browser: object) -> Iterator[Callable[[int, str], Visit]]:
    """Returns a window by its number, empty and on an address.

    A window is used by one test after the other: loading and compiling the app's scripts in a
    new one costs as much as opening a chapter.
    """
    opened: dict[int, Visit] = {}

    def window(number: int, url: str) -> Visit:
        visit = opened.get(number)
        if visit is None or visit.crashed or visit.page.is_closed():
            visit = opened[number] = make_visit(browser, url)
        visit.url = url
        visit.dress("light", 1440)
        return visit

    yield window
    for visit in opened.values():
        visit.page.context.close()


@pytest.fixture(scope="module")
def address(app_url: str) -> str:
    """Of the app that the windows look at; a module that wants another one overrides this."""
    return app_url


@pytest.fixture
def visit(windows: Callable[[int, str], Visit], address: str) -> Iterator[Visit]:
    """A window on the running app."""
    first = windows(0, address)
    yield first
    leave(first)


@pytest.fixture
def other(windows: Callable[[int, str], Visit], address: str) -> Iterator[Visit]:
    """A window of another visitor."""
    second = windows(1, address)
    yield second
    leave(second)


@pytest.fixture
def window(visit: Visit) -> Visit:
    """The window that `lesson` opens chapters in."""
    return visit


@pytest.fixture
def lesson(window: Visit, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Open a chapter of the module's PAGE in a fresh session; the test must leave it clean.

    A module's QUERY, where it has one, is a part of each address, and ends with "&".
    """
    yield opener(window, request.module.PAGE, getattr(request.module, "QUERY", ""))
    window.assert_clean()
