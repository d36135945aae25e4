"""Where a window is: browser, network address, and whether it is on the server's own machine."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from llmviz.course.ui.browser import COOKIE
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
