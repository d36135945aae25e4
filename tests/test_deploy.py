"""deploy/: two processes of the app behind a real nginx, under a path of their own."""

from __future__ import annotations

import asyncio
import http.cookiejar
import json
import re
import shutil
import signal
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from playwright.async_api import Page, async_playwright, expect
from websockets.exceptions import InvalidStatus

from benchmarks.behind_nginx import (
    CONFIG,
    DEPLOY,
    NGINX,
    PREFIX,
    Running,
    app_command,
    behind_nginx,
)
from benchmarks.follow import watched
from benchmarks.startup import ROOT
from benchmarks.visitor import Visitor, query
from llmviz.course.ui.browser import COOKIE
from llmviz.course.ui.classroom import GONE, words
from llmviz.version import __version__
from tests.awaiting import awaited
from tests.browser.conftest import CHROMIUM, FLAGS, NOT_AHEAD, PATIENCE

pytestmark = pytest.mark.slow  # of the second tier

TEXT = "Anna gave the ball to Samir"
PARTS = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
FEW = 6  # windows of an address in a process
needs_nginx = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def test_compose_and_nginx_name_the_same_processes():
    compose = (DEPLOY / "compose.yaml").read_text("utf-8")
    services = [name for name in PARTS["services"] if name.startswith("app-")]
    assert services == re.findall(r"server (app-\d+):8501 ", CONFIG)
    assert len(services) >= 2
    assert f"/{PREFIX}/" in CONFIG
    assert app_command()[-1] == "none" and PREFIX in app_command()
    assert "${LLMVIZ_SECRET:?" in compose  # one secret for all processes, and none by default
    assert 'LLMVIZ_FRAMES: "nobody"' in compose and "frame-ancestors" not in CONFIG  # one setting
    # The address comes from nginx, which passes on nothing that a visitor says of it.
    assert 'FORWARDED_ALLOW_IPS: "*"' in compose
    assert re.findall(r"X-Forwarded-For (.*);", CONFIG) == ["$remote_addr"]


def test_all_processes_are_of_one_image_which_has_the_version_of_the_package():
    apps = [one for name, one in PARTS["services"].items() if name.startswith("app-")]
    assert {one["image"] for one in apps} == {f"llmviz:{__version__}"}
    images = [one["image"] for one in PARTS["services"].values()]
    assert all(re.fullmatch(r"[a-z]+:\d[\w.-]+", image) for image in images)


def test_nginx_knows_every_name_before_a_process_is_there():
    services, (network,) = PARTS["services"], PARTS["networks"].values()
    known = dict(line.split(":") for line in services["nginx"]["extra_hosts"])
    (subnet,) = (ip_network(part["subnet"]) for part in network["ipam"]["config"])
    given = {
        name: service["networks"]["inside"]["ipv4_address"]
        for name, service in services.items()
        if name != "nginx"
    }
    assert given == known and len(set(given.values())) == len(given)
    assert all(ip_address(address) in subnet for address in given.values())
    assert services["nginx"]["networks"] == ["inside"] == list(PARTS["networks"])


def test_the_image_is_small_and_runs_as_nobody_special():
    """The rules of hadolint that say how such a file goes wrong."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    joined = re.sub(r"\\\n\s*", "", text)
    lines = [line.split(" ", 1) for line in joined.splitlines() if line[:1].isupper()]
    did: dict[str, list[str]] = {}
    for word, rest in lines:
        did.setdefault(word, []).append(rest)
    (image,), (user,) = did["FROM"], did["USER"]
    assert re.fullmatch(r"[a-z]+:\d[\w.-]+", image)  # a version, not what is the latest today
    assert user != "root" and f"useradd --create-home {user}" in text
    assert [word for word, _ in lines].index("USER") < [word for word, _ in lines].index("CMD")
    assert did["ENV"][0].startswith("LLMVIZ_RUNS=/runs ") and f"--owner {user} /runs" in text
    install = next(run for run in did["RUN"] if "pip install" in run)
    assert "--torch-backend cpu" in install and "--no-cache-dir" in install
    assert re.search(r"pip install --no-cache-dir uv==[\d.]+ ", install)
    (check,) = did["HEALTHCHECK"]
    assert f"8501/{PREFIX}/_stcore/health" in check
    for command in (did["CMD"][0], check.partition("CMD ")[2]):
        assert isinstance(json.loads(command), list)  # no shell between Docker and the program


def test_the_image_has_what_the_app_runs_and_no_more():
    ignored = {line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line}
    kept = {path.name for path in ROOT.iterdir()} - ignored
    assert {"app.py", "llmviz", "pages", "data", ".streamlit", "requirements.txt"} <= kept
    assert not {"tests", "benchmarks", "docs", "examples", ".github", "deploy"} & kept
    assert {".venv", "runs", ".git"} <= ignored


class Deployed(Running):
    """The running processes, where nginx answers, and browsers that ask it."""

    prefix = PREFIX

    def browser(self) -> Browser:
        return Browser(self)

    def two(self) -> tuple[Browser, Browser]:
        """Return two browsers whose sessions live in different processes."""
        found: dict[int, Browser] = {}
        for _ in range(40):
            browser = self.browser()
            found.setdefault(awaited(browser.process()), browser)
            if len(found) == 2:
                return found[0], found[1]
        raise AssertionError("40 browsers were all given to one process")


class Browser:
    """The cookies of one browser, and what it asks for."""

    def __init__(self, deployed: Any) -> None:
        """deployed: has the host and the prefix of the path."""
        self.deployed = deployed
        self.cookies = http.cookiejar.CookieJar()
        self._open = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self.cookies)
        ).open
        self.page = self.ask("")

    def ask(self, path: str, **more: object) -> urllib.request.addinfourl:
        return self._open(
            urllib.request.Request(f"{self.base(self.deployed.host)}/{path}", **more),
            timeout=60,
        )

    def cookie(self, name: str) -> str:
        return next((one.value for one in self.cookies if one.name == name), "")

    def visitor(self, **headers: str) -> Visitor:
        sent = "; ".join(f"{one.name}={one.value}" for one in self.cookies)
        return Visitor(
            self.deployed.host, self.deployed.prefix, headers={"Cookie": sent, **headers}
        )

    def base(self, host: str) -> str:
        """The app's address at nginx or at a process."""
        return f"http://{host}/{self.deployed.prefix}".removesuffix("/")

    def upload(self, session: str, host: str = "") -> int:
        """Send a file for a session, through nginx or straight to a process; return the status."""
        self.ask("_stcore/health").read()
        mark = "----part"
        form = (
            f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
            f"Content-Type: text/plain\r\n\r\n{TEXT}\r\n--{mark}--\r\n"
        ).encode()
        url = f"{self.base(host or self.deployed.host)}/_stcore/upload_file/{session}/a"
        request = urllib.request.Request(url, data=form, method="PUT")
        request.add_header("Content-Type", f"multipart/form-data; boundary={mark}")
        token = self.cookie("_streamlit_xsrf")
        request.add_header("X-Xsrftoken", token)
        try:
            return self._open(request, timeout=60).status
        except urllib.error.HTTPError as error:
            return error.code

    async def process(self) -> int:
        """Return which process has this browser's sessions: only that one takes its files."""
        async with self.visitor() as visitor:
            await visitor.open("glossary")
            taken = [
                await asyncio.to_thread(self.upload, visitor.session, f"127.0.0.1:{port}")
                for port in self.deployed.ports
            ]
        assert sorted(taken) == [204, 400]
        return taken.index(204)


@pytest.fixture(scope="module")
def deployed(tmp_path_factory) -> Iterator[Deployed]:
    folder = tmp_path_factory.mktemp("deploy")
    own = {"LLMVIZ_ADDRESS_WINDOWS": str(FEW), "PYTHONPATH": str(NOT_AHEAD)}
    with behind_nginx(folder, **own) as running:
        yield Deployed(**vars(running))


async def shown(browser: Browser, page: str, address: str) -> tuple[str, list[str]]:
    """Open a link; return the texts in its boxes and its headings."""
    async with browser.visitor() as visitor:
        exchange = await visitor.open(page, address)
        assert exchange.exceptions == []
        boxes = [one.text_area.value for one in visitor.elements("text_area")]
        return boxes[0], [one.heading.body for one in visitor.elements("heading")]


@needs_nginx
def test_headers(deployed):
    headers = deployed.browser().page.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert "HttpOnly" in headers["Set-Cookie"] and f"Path=/{PREFIX}/" in headers["Set-Cookie"]


@needs_nginx
def test_the_bare_address_leads_to_the_app(deployed):
    with urllib.request.urlopen(f"http://{deployed.host}/", timeout=60) as page:
        assert page.url == f"http://{deployed.host}/{PREFIX}/"


@needs_nginx
def test_the_pages_files_come_and_the_second_time_from_nginx(deployed):
    browser = deployed.browser()
    (script,) = re.findall(r'src="\./(static/js/index[^"]*\.js)"', browser.page.read().decode())
    assert len(browser.ask(script).read()) == len(deployed.browser().ask(script).read()) > 10_000
    kept = [path for path in (deployed.runs.parent / "cache").rglob("*") if path.is_file()]
    assert len(kept) == 1


@needs_nginx
def test_a_link_shows_the_same_in_both_processes(deployed):
    links = [awaited(shown(one, "tokenization", query(text=TEXT))) for one in deployed.two()]
    assert links[0] == links[1]
    assert links[0][0] == TEXT


@needs_nginx
def test_a_browsers_files_reach_the_process_that_has_its_session(deployed):
    async def uploaded(browser: Browser) -> int:
        async with browser.visitor() as visitor:
            await visitor.open("glossary")
            return await asyncio.to_thread(browser.upload, visitor.session)

    assert [awaited(uploaded(one)) for one in deployed.two()] == [204, 204]


@needs_nginx
def test_an_address_has_so_many_windows_whatever_it_says_of_itself(deployed):
    async def all_open(browser: Browser) -> str:
        async with AsyncExitStack() as stack:
            for number in range(FEW):
                said = {"X-Forwarded-For": f"203.0.113.{number}"}
                await stack.enter_async_context(browser.visitor(**said))
            with pytest.raises(InvalidStatus) as refused:
                await stack.enter_async_context(browser.visitor(**{"X-Forwarded-For": "::1"}))
            assert refused.value.response.status_code == 429
            with pytest.raises(urllib.error.HTTPError) as page:
                browser.ask("", headers={"Accept": "text/html", "X-Forwarded-For": "127.0.0.1"})
            assert page.value.status == 429
            return page.value.read().decode()

    browser = deployed.browser()
    told = awaited(all_open(browser))
    assert told.startswith(f"{FEW} windows from your network address are open here")
    assert browser.ask("", headers={"Accept": "text/html"}).status == 200


@needs_nginx
def test_a_kept_run_is_seen_by_both(deployed):
    browsers = deployed.two()
    shutil.copytree(ROOT / "data" / "experiments" / "cold", deployed.runs / "of-the-class")

    async def listed(browser: Browser) -> list[str]:
        async with browser.visitor() as visitor:
            await visitor.open("training", "part=curves")
            return [
                name for one in visitor.elements("multiselect") for name in one.multiselect.options
            ]

    for browser in browsers:
        assert any("of-the-class" in name for name in awaited(listed(browser)))


async def pressed(visitor: Visitor, label: str) -> None:
    """Press a button."""
    (button,) = (one for one in visitor.elements("button") if one.button.label == label)
    await visitor.set(button, trigger_value=True)


def title(visitor: Visitor) -> str:
    """The title of the page that a window shows."""
    return visitor.elements("heading")[0].heading.body


def led(visitor: Visitor) -> list[str]:
    """The code of the class that a window leads, if it leads one."""
    return [one.metric.body for one in visitor.elements("metric")]


class Lesson:
    """A presenter and a follower in real browsers, whose sessions live in two processes."""

    def __init__(self, presenter: Page, follower: Page) -> None:
        self.presenter, self.follower = presenter, follower

    async def begin(self, url: str) -> None:
        """Open a class and join it; the follower goes where the presenter goes."""
        ann = self.presenter
        await ann.goto(f"{url}/glossary")
        await ann.get_by_role("button", name=words.open_box).click()
        await ann.get_by_role("button", name=words.open).click()
        link = await ann.locator("[data-testid=stSidebar] [data-testid=stCode]").inner_text()
        # The link names the machine as others reach it; these browsers know only this machine.
        way = urlsplit(link.strip())
        assert way.path.startswith(urlsplit(url).path)
        await self.follower.goto(way._replace(netloc=urlsplit(url).netloc).geturl())
        await self.goes_to("tokenization", "Text to tokens")

    async def goes_to(self, page: str, title: str) -> None:
        """Let the presenter choose a lesson in the menu; the follower's page becomes the same."""
        menu = self.presenter.locator("[data-testid=stSidebarNav]")
        await menu.get_by_role("link", name=title).click()
        await self.follower.wait_for_url(f"**/{page}*")
        shown = self.follower.locator("[data-testid=stMain]").get_by_text(title).first
        await expect(shown).to_be_visible()

    async def goes_on(self) -> None:
        """Without a hand, the presenter's window leads again; the follower follows, and the end."""
        await expect(self.presenter.get_by_role("button", name=words.end)).to_be_visible()
        await self.goes_to("glossary", "Glossary")
        await self.presenter.get_by_role("button", name=words.end).click()
        await self.presenter.get_by_role("button", name=words.end_now).click()
        await expect(self.follower.get_by_text(words.notices["ended"])).to_be_visible()


@asynccontextmanager
async def in_browsers(url: str, *browsers: Browser) -> AsyncIterator[Lesson | None]:
    """A window for each of two browsers with their cookies; None where there is no Chromium."""
    if not CHROMIUM:
        yield None
        return
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        pages = []
        for one in browsers:
            context = await chromium.new_context()
            context.set_default_timeout(PATIENCE)
            value = one.cookie("llmviz_visitor")
            await context.add_cookies([{"name": "llmviz_visitor", "value": value, "url": url}])
            pages.append(await context.new_page())
        yield Lesson(*pages)
        await chromium.close()


@needs_nginx
def test_when_a_process_is_killed_the_other_takes_over_and_a_class_goes_on(deployed):
    ann, bob = deployed.two()
    known = "; ".join(f"{one.name}={one.value}" for one in ann.cookies)
    cookie = {"Cookie": f"{known}; {COOKIE}={'a' * 43}"}

    async def version(watch: str) -> int:
        return int(await asyncio.to_thread(lambda: bob.ask(watch.removeprefix("/")).read()))

    url = f"http://{deployed.host}/{PREFIX}"

    async def lesson() -> None:
        async with bob.visitor() as follower, in_browsers(url, ann, bob) as seen:
            if seen:
                await seen.begin(url)
            async with ann.visitor(**cookie) as presenter:
                await presenter.open("glossary")
                await pressed(presenter, words.open_box)
                await pressed(presenter, words.open)
                (code,) = led(presenter)
                await follower.open("tokenization", query(**{"class": code}))
                assert title(follower) == title(presenter) == "Glossary"
                watch, shown = watched(follower)
                assert await version(watch) == shown
                await presenter.go_to("tokenization")
                assert await version(watch) > shown
                await follower.reload()
                assert title(follower) == title(presenter) != "Glossary"
            killed = deployed.processes[0]
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            async with ann.visitor(**cookie) as presenter:
                await presenter.open("glossary")
                assert led(presenter) == [code]
                await follower.reload()
                assert title(follower) == "Glossary"
                await pressed(presenter, words.end)
                await pressed(presenter, words.end_now)
            assert await version(watch) == GONE
            if seen:
                await seen.goes_on()

    awaited(lesson())
    address = query(text=TEXT)
    for one in (ann, bob, deployed.browser()):
        text, headings = awaited(shown(one, "tokenization", address))
        assert text == TEXT and headings
    assert deployed.processes[1].poll() is None
