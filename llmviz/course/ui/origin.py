"""Where a window is: in which browser, at which network address, and whether on this machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple, Protocol

from starlette.requests import HTTPConnection

from llmviz.course.streamlit_parts import connection_of
from llmviz.course.ui import browser, own_machine

LOOPBACK = ("127.0.0.1", "::1")
HOUSEHOLD = 64  # bits of an IPv6 address that one household or school has to itself


class Origin(NamedTuple):
    """Where a window is.

    address: empty where it is not known. browser: its secret, empty until it has one. own: on the
    server's own machine, as the teacher's is.
    """

    address: str = ""
    browser: str = ""
    own: bool = False


class Connection(Protocol):
    @property
    def remote_ip(self) -> str | None: ...  # of the browser that connected

    @property
    def headers(self) -> Iterable[tuple[str, str]]: ...

    @property
    def cookies(self) -> Mapping[str, str]: ...


def origin_of(context: Connection) -> Origin:
    """Return where a connection comes from.

    Its address is that of the connection. Behind a proxy it is what the proxy says in
    X-Forwarded-For, if the server was told to believe it: that is uvicorn's FORWARDED_ALLOW_IPS,
    this machine alone where it is not set. What anybody else says there is not read.
    """
    peer = context.remote_ip or ""
    known = None if peer in LOOPBACK else peer
    own = own_machine.at_machine(known, dict(context.headers))
    secret = browser.checked(context.cookies.get(browser.COOKIE))
    return Origin(_household(peer), secret, own)


class _Asked(NamedTuple):
    """What a request says of where it comes from."""

    remote_ip: str | None
    headers: list[tuple[str, str]]
    cookies: dict[str, str]


def of_request(request: HTTPConnection) -> Origin:
    host = request.client.host if request.client else None
    return origin_of(_Asked(host, list(request.headers.items()), dict(request.cookies)))


def of_session(session: str) -> Origin:
    """Return where the open window of a session is; an unknown place where there is none."""
    context = connection_of(session)
    return Origin() if context is None else origin_of(context)


def _household(peer: str) -> str:
    """An address; of an IPv6 address the part that does not change from device to device."""
    try:
        address = ip_address(peer)
    except ValueError:  # a test client, or a socket without addresses
        return peer
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return f"{IPv6Address(int(address) >> (128 - HOUSEHOLD) << (128 - HOUSEHOLD))}/{HOUSEHOLD}"
    return str(address)
