"""The application on a socket, until Ctrl-C or a polite kill; what is under way gets its end.

A client's connection waits for nobody for ever: not for a head, not for a reader. What a client
may keep busy is a place among the connections and the engine's work for it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from llmviz.serving.http.protocol import ApiError
from llmviz.serving.http.service import Service

HEAD_SECONDS = 10.0  # that the head of a request may take to come
UNREAD_SECONDS = 5.0  # that a client may read nothing of what is sent to it
UNREAD_BYTES = 16_384  # kept for a client that does not read, here and in the system


class Connection(H11Protocol):
    """uvicorn's own, with an end for who sends no head or reads no answer."""

    _head: asyncio.TimerHandle | None = None  # while a head is awaited
    _reader: asyncio.TimerHandle | None = None  # while nothing is read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; where there is no room, who has been waiting longest goes."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(UNREAD_BYTES)
        self._watch_head()
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            waiting = {
                other._head.when(): other
                for other in self.connections
                if isinstance(other, Connection) and other._head is not None and other is not self
            }
            if waiting:
                waiting[min(waiting)]._end_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        _stop(self._head)
        _stop(self._reader)

    def handle_events(self) -> None:
        """Take what came, and look whether it is the end of a head or the beginning of one."""
        super().handle_events()
        self._watch_head()

    def pause_writing(self) -> None:
        """The client does not read; it has a while to go on."""
        super().pause_writing()
        self._reader = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads."""
        super().resume_writing()
        _stop(self._reader)

    def _watch_head(self) -> None:
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            _stop(self._head)
            self._head = None
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self._end_head)

    def _end_head(self) -> None:
        _stop(self._head)
        self._head = None
        if self.conn.trailing_data[0]:  # a part of one has come
            error = ApiError(408, f"the head did not come within {HEAD_SECONDS:g} seconds")
            body = json.dumps(error.body()).encode()
            headers = {"content-type": "application/json", "content-length": str(len(body))}
            for event in (
                h11.Response(status_code=408, headers=[*headers.items(), ("connection", "close")]),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


OWN_NAMES = ("localhost", "127.0.0.1", "::1", "[::1]")
MOST_CONNECTIONS = 1_000
GRACE = 10  # seconds for answers that are on their way when the server ends


class Server(uvicorn.Server):
    """uvicorn's server, which ends the service first: clients wait for it and it for them."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                log_level="warning",
                access_log=False,
                server_header=False,
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=GRACE,
            )
        )
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Give each client its end, then close."""
        await asyncio.to_thread(self._service.close)
        await super().shutdown(sockets)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def hosts_for(host: str) -> tuple[str, ...]:
    """Return the names under which a server on an address answers: its own ones, or any."""
    return (*OWN_NAMES, host) if is_loopback(host) else ("*",)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free.

    Raises OSError: the port is taken, or there is no such address here.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=MOST_CONNECTIONS)
    # Who connects inherits it; the system would else keep megabytes for who reads nothing.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_BYTES)
    return listening
