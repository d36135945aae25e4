"""How many windows may be open: of a browser, of an address, in all; the server's own get in."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocket

from llmviz.course.ui.browser import COOKIE
from llmviz.course.ui.open_windows import OpenWindows

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
