"""Windows: where they are, how many may be open, who may frame them, which are away."""

from __future__ import annotations

from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket
from streamlit.runtime import memory_session_storage
from streamlit.runtime.session_manager import SessionInfo
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from llmviz.course.ui.browser import COOKIE
from llmviz.course.ui.frames import Frames, ancestors
from llmviz.course.ui.old_sessions import OldSessions, keep_few
from llmviz.course.ui.open_windows import OpenWindows
from llmviz.course.ui.origin import Origin, origin_of
from tests.awaiting import awaited

SECRET = "s" * 43


def context(peer, cookie="", **headers):
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return SimpleNamespace(
        remote_ip=peer, headers=named, cookies={COOKIE: cookie} if cookie else {}
    )


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        (context("192.168.1.20", host="your-host"), Origin("192.168.1.20", "", False)),
        (context("192.168.1.20", SECRET, host="h"), Origin("192.168.1.20", SECRET, False)),
        (context("192.168.1.20", "<no secret>", host="h"), Origin("192.168.1.20", "", False)),
        (context("127.0.0.1", host="localhost:8501"), Origin("127.0.0.1", "", True)),
        (context("::1", host="[::1]:8501"), Origin("::/64", "", True)),
        (context("127.0.0.1", host="your-host"), Origin("127.0.0.1", "", False)),
        (context("192.168.1.20", host="localhost"), Origin("192.168.1.20", "", False)),
        (context("::ffff:10.0.0.7", host="h"), Origin("10.0.0.7", "", False)),
        (context("2001:db8:1:2:3:4:5:6", host="h"), Origin("2001:db8:1:2::/64", "", False)),
        (context("testclient", host="h"), Origin("testclient", "", False)),
        (context(None, host="localhost"), Origin("", "", False)),
    ],
)
def test_where_a_connection_comes_from(given, origin):
    assert origin_of(given) == origin


@pytest.mark.parametrize("name", ["X_Forwarded_For", "Forwarded", "X_Real_IP", "Via"])
def test_what_a_visitor_says_of_its_address_is_not_read(name):
    given = context("203.0.113.5", host="localhost", **{name: "127.0.0.1"})
    assert origin_of(given) == Origin("203.0.113.5", "", False)
    local = context("127.0.0.1", host="localhost", **{name: "127.0.0.1"})
    assert not origin_of(local).own  # somebody passes it on


@pytest.mark.parametrize(
    ("trusted", "peer", "said", "address"),
    [
        ("127.0.0.1", "127.0.0.1", "198.51.100.7", "198.51.100.7"),  # a proxy on this machine
        ("127.0.0.1", "203.0.113.5", "198.51.100.7", "203.0.113.5"),  # nobody that is believed
        ("*", "172.18.0.4", "198.51.100.7", "198.51.100.7"),  # compose.yaml's nginx
    ],
)
def test_only_a_proxy_that_is_believed_says_the_address(trusted, peer, said, address):
    """As uvicorn, which serves the app, reads FORWARDED_ALLOW_IPS."""
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["client"][0])

    scope = {"type": "http", "scheme": "http", "client": (peer, 1)}
    scope["headers"] = [(b"x-forwarded-for", said.encode())]
    awaited(ProxyHeadersMiddleware(app, trusted)(scope, None, None))
    assert origin_of(context(*seen, host="your-host")).address == address


PAGE = {"accept": "text/html,*/*"}


@pytest.fixture
def limited(monkeypatch):
    for kind, most in (("BROWSER", 2), ("ADDRESS", 3), ("MAX", 4)):
        monkeypatch.setenv(f"LLMVIZ_{kind}_WINDOWS", str(most))

    async def app(scope, receive, send):
        if scope["type"] == "http":
            await PlainTextResponse("the page")(scope, receive, send)
        else:
            socket = WebSocket(scope, receive, send)
            await socket.accept()
            await socket.receive()

    return OpenWindows(app)


class Place:
    """Windows of one address and one browser."""

    def __init__(self, app, address, browser="", host="your-host"):
        self.client = TestClient(app, f"http://{host}", client=(address, 5000))
        self.headers = {"host": host}
        if browser:
            self.headers["cookie"] = f"{COOKIE}={browser * 43}"

    def open(self, stack):
        stack.enter_context(self.client.websocket_connect("/_stcore/stream", headers=self.headers))

    def page(self, path="/", **more):
        return self.client.get(path, headers={**PAGE, **self.headers, **more})

    def told(self):
        """What a window that is one too many is told: by the page, and by its connection."""
        page = self.page()
        with pytest.raises(WebSocketDenialResponse) as refused, ExitStack() as stack:
            self.open(stack)
        assert page.status_code == refused.value.status_code == 429
        assert page.text == refused.value.text
        return page.text


def test_a_browser_has_its_limit_and_the_others_go_on(limited):
    mine = Place(limited, "10.0.0.1", "a")
    with ExitStack() as stack:
        mine.open(stack)
        assert mine.page().text == "the page"
        mine.open(stack)
        assert mine.told().startswith("2 windows of your browser are open here")
        assert mine.page("/static/x.js", accept="*/*").text == "the page"  # its open windows go on
        Place(limited, "10.0.0.1", "b").open(stack)
    assert mine.page().text == "the page"
    assert not limited._open


def test_an_address_has_its_limit_whatever_browsers_it_claims(limited):
    with ExitStack() as stack:
        for name in ("a", "", "c"):
            Place(limited, "10.0.0.1", name).open(stack)
        told = Place(limited, "10.0.0.1", "d").told()
        assert told.startswith("3 windows from your network address are open here")
        Place(limited, "10.0.0.2", "a").open(stack)


def test_all_together_have_a_limit_but_not_those_at_the_servers_machine(limited):
    with ExitStack() as stack:
        for number in range(4):
            Place(limited, f"10.0.0.{number}").open(stack)
        assert Place(limited, "10.0.0.9").told().startswith("4 windows are open on this server")
        teacher = Place(limited, "127.0.0.1", "t", host="localhost:8501")
        for _ in range(5):
            teacher.open(stack)
        assert teacher.page().text == "the page"
    assert not limited._open


def test_a_spoofed_header_opens_no_window(limited):
    with ExitStack() as stack:
        for _ in range(3):
            Place(limited, "10.0.0.1").open(stack)
        liar = Place(limited, "10.0.0.1", host="localhost")
        liar.headers["x-forwarded-for"] = "127.0.0.1"
        assert "from your network address" in liar.told()


def test_a_connection_that_fails_is_not_counted_any_more(monkeypatch):
    async def app(scope, receive, send):
        raise OSError("gone")

    windows = OpenWindows(app)
    with pytest.raises(OSError, match="gone"), ExitStack() as stack:
        Place(windows, "10.0.0.1", "a").open(stack)
    assert not windows._open


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (None, "frame-ancestors 'none'"),
        ("nobody", "frame-ancestors 'none'"),
        ("anyone", "frame-ancestors *"),
        (
            " https://learn.example.org  http://127.0.0.1:80",
            "frame-ancestors 'self' https://learn.example.org http://127.0.0.1:80",
        ),
    ],
)
def test_every_answer_says_who_may_frame_it(monkeypatch, setting, said):
    monkeypatch.delenv("LLMVIZ_FRAMES", raising=False)
    if setting is not None:
        monkeypatch.setenv("LLMVIZ_FRAMES", setting)
    headers = TestClient(Frames(PlainTextResponse("page"))).get("/").headers
    assert headers["Content-Security-Policy"] == said
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "setting",
    [
        "learn.example.org",
        "https://a.example; script-src *",
        "nobody anyone",
        "https://a/b",
        "'self'",
    ],
)
def test_a_setting_that_is_no_address_is_refused(setting):
    with pytest.raises(ValueError, match="LLMVIZ_FRAMES must be"):
        ancestors(setting)


ENDED: list[str] = []


def session(name: str) -> SessionInfo:
    own = SimpleNamespace(id=name, shutdown=lambda: ENDED.append(name))
    return SessionInfo(client=None, session=own, script_run_count=1)


@pytest.fixture
def kept():
    ENDED.clear()
    now = SimpleNamespace(seconds=0.0)
    storage = OldSessions(most=2, ttl_seconds=100, clock=lambda: now.seconds)
    storage.now = now
    return storage


def names(storage: OldSessions) -> list[str]:
    return [info.session.id for info in storage.list()]


def test_no_more_than_the_most_and_the_oldest_is_ended(kept):
    for name in "abc":
        kept.save(session(name))
    assert names(kept) == ["b", "c"]
    assert ENDED == ["a"]


def test_one_that_comes_back_is_not_ended(kept):
    kept.save(session("a"))
    assert kept.get("a").session.id == "a"
    kept.delete("a")
    assert kept.get("a") is None
    assert ENDED == []


def test_after_the_time_it_is_ended(kept):
    kept.save(session("a"))
    kept.now.seconds = 100
    assert kept.get("a") is not None
    kept.now.seconds = 101
    assert kept.get("a") is None
    assert ENDED == ["a"]


def test_the_others_go_on_when_one_is_too_old(kept):
    kept.save(session("a"))
    kept.now.seconds = 60
    kept.save(session("b"))
    kept.now.seconds = 120
    assert kept.get("b") is not None
    assert names(kept) == ["b"]


def test_what_is_not_kept_cannot_be_let_go(kept):
    with pytest.raises(KeyError):
        kept.delete("nobody")


def test_streamlit_takes_it_with_its_own_setting(monkeypatch):
    monkeypatch.setattr(memory_session_storage, "MemorySessionStorage", object)
    keep_few()
    made = memory_session_storage.MemorySessionStorage(ttl_seconds=7)
    assert isinstance(made, OldSessions)


def test_who_opens_and_closes_windows_pushes_nobody_else_out():
    ENDED.clear()
    where = {"a": ("1", ""), "b": ("2", "x"), "c": ("2", "y")}  # address and browser
    storage = OldSessions(most=4, origin=lambda name: Origin(*where[name[0]]))
    for name in ("a1", "b1", "c1", "c2", "c3", "c4"):
        storage.save(session(name))
    assert ENDED == ["c1", "c2"] and names(storage) == ["a1", "b1", "c3", "c4"]
    for name in ("a2", "a3", "a4"):
        storage.save(session(name))
    assert ENDED[2:] == ["c3", "a1", "a2"] or names(storage)[0] == "b1"
    assert names(storage) == ["b1", "c4", "a3", "a4"]
