"""Connections that one process accepts and another serves: the connection itself is handed over.

    ours, theirs = socket.socketpair()    # `theirs` goes to the other process
    hand_over(ours, connection)
    HandedSockets(fileno=theirs.detach()).accept()    # there: as from a listening socket

Nothing stands between the two ends afterwards. Systems without Unix sockets cannot do it.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from typing import Any

SETTING = "LLMVIZ_HANDED"  # of the environment: the descriptor from which connections come
NUMBER = "LLMVIZ_PROCESS"  # which of several processes this one is, counted from 0
COOKIE = "llmviz_process"  # says in which process a browser's sessions are
READY = b"r"


def hand_over(pipe: socket.socket, connection: socket.socket) -> None:
    """Give a connection to the process at the other end. Raises OSError where it is gone."""
    # A descriptor travels only with a byte: a stream socket drops it without one.
    socket.send_fds(pipe, [b"c"], [connection.fileno()])


class HandedSockets(socket.socket):
    """What a server takes for its listening socket; the connections come from another process.

    When that process has gone, this one is told to end.
    """

    def listen(self, *_: Any) -> None:
        """Say that connections will be served from now on.

        Where the other process has gone already, `accept` finds that out and ends this one.
        """
        with suppress(BrokenPipeError, ConnectionResetError):
            self.send(READY)

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection, and where it comes from.

        Raises BlockingIOError where there is none, ConnectionAbortedError where it is closed again.
        """
        # One byte is one connection: `hand_over` sends no more.
        data, descriptors, _, _ = socket.recv_fds(self, 1, 1)
        if not data:
            self.shutdown(socket.SHUT_RD)
            os.kill(os.getpid(), signal.SIGTERM)
        if not descriptors:
            raise BlockingIOError
        connection = socket.socket(fileno=descriptors[0])
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection, connection.getpeername()
        except OSError as error:
            connection.close()
            raise ConnectionAbortedError from error
