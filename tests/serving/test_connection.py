"""Clients that send half a request, too much, or read nothing; the others are served meanwhile."""

import json
import socket
from contextlib import ExitStack, suppress

import pytest

from llmviz.processes import read_to_end
from llmviz.serving.http import server as servers
from llmviz.serving.settings import Limits
from tests.serving.served import JSON, PATIENCE, running, written

MOST_BYTES = Limits().max_body
HEAD = "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"


@pytest.fixture(scope="module")
def server():
    with running() as one:
        yield one


def connected(server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE)


def rest(client: socket.socket) -> tuple[str, bytes]:
    """What comes until the server closes: the first line, and the body."""
    got = bytearray()
    while piece := client.recv(65536):
        got += piece
    head, _, body = bytes(got).partition(b"\r\n\r\n")
    return head.decode().partition("\r\n")[0], body


def test_a_head_that_does_not_come_is_not_waited_for(server, monkeypatch):
    monkeypatch.setattr(servers, "HEAD_SECONDS", 0.05)
    with connected(server) as client, connected(server) as silent:
        client.settimeout(0.01)
        with suppress(OSError):  # closed
            client.sendall(HEAD.encode())
            while True:  # always a bit more of it, and never its end
                client.sendall(b"X-More: 1\r\n")
                with suppress(TimeoutError):
                    got = client.recv(1000)
                    break
        client.settimeout(10)
        with suppress(OSError):  # head and body may come one after the other
            while more := client.recv(1000):
                got += more
        head, _, body = got.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 ")
        assert "the head did not come within 0.05 seconds" in json.loads(body)["error"]["message"]
        assert silent.recv(1) == b""  # closed: nothing was asked


def test_heads_that_do_not_end_leave_room_for_others(monkeypatch):
    monkeypatch.setattr(servers, "MOST_CONNECTIONS", 5)
    with running() as one, ExitStack() as stack:
        for number in range(12):
            idle = stack.enter_context(connected(one))
            idle.sendall(HEAD.encode() * (number % 2))
        assert one.complete(max_tokens=2)[0] == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (HEAD + f"Content-Type: {JSON}\r\n", 413),
        (HEAD + "Content-Type: text/plain\r\n", 415),
        (HEAD.replace("completions", "embeddings"), 404),
        (HEAD.replace("localhost", "elsewhere.example"), 400),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_who_sends_all_before_it_reads_is_told_what_was_wrong(server, head, status, chunked):
    sent = b" " * (5 * MOST_BYTES)  # more than lies in any system's buffers
    if chunked:
        length, sent = "Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(sent), sent)
    else:
        length = f"Content-Length: {len(sent)}"
    with connected(server) as client:
        client.sendall(f"{head}{length}\r\n\r\n".encode())
        client.sendall(sent)
        line, body = rest(client)
    assert line.startswith(f"HTTP/1.1 {status} ") and body


def test_who_asks_whether_to_send_so_much_is_told_no(server):
    with connected(server) as client:
        head = f"{HEAD}Content-Type: {JSON}\r\nContent-Length: {MOST_BYTES + 1}\r\n"
        client.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        line, body = rest(client)
        assert line.startswith("HTTP/1.1 413 ")
        assert f"{MOST_BYTES:,}" in json.loads(body)["error"]["message"]


def test_a_body_without_end_is_refused_when_time_is_over(server, monkeypatch):
    monkeypatch.setattr(read_to_end, "BODY_SECONDS", 0.05)
    with connected(server) as client:
        client.sendall(f"{HEAD}Content-Type: text/plain\r\nContent-Length: 9\r\n\r\n".encode())
        assert rest(client)[0].startswith("HTTP/1.1 415 ")


def asked(one, client: socket.socket) -> int:
    """Ask for more text than lies in any buffer; return how many samples that are."""
    prompts, n = 32, 8
    body = written(prompt=["ab"] * prompts, n=n, temperature=1, max_tokens=40, stream=True)
    head = f"{HEAD}Content-Type: {JSON}\r\nContent-Length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)
    return prompts * n


def test_nothing_is_computed_for_who_reads_nothing(monkeypatch):
    monkeypatch.setattr(servers, "UNREAD_SECONDS", 0)
    with running() as one, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", one.port))
        one.model.gate.clear()
        samples = asked(one, client)
        one.until_busy(samples)
        one.model.gate.set()
        one.until_busy(0)
        assert one.model.steps[40] < samples * 40 / 4


def test_who_reads_late_gets_everything():
    with running() as one, connected(one) as client:
        asked(one, client)
        assert client.recv(1) == b"H"  # it has begun
        for _ in range(3):
            one.ask("GET", "/health")
        line, body = rest(client)
    assert line == "TTP/1.1 200 OK" and b"[DONE]" in body
