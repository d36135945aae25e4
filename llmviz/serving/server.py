"""The application on a socket, until Ctrl-C or a polite kill; what is under way gets its end."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

import uvicorn
from starlette.types import ASGIApp

from llmviz.serving.connection import UNREAD_BYTES, Connection
from llmviz.serving.service import Service

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
