"""The command that serves a model: it answers, ends at Ctrl-C, and refuses in one line."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from llmviz.serving.http.server import hosts_for, is_loopback
from tests.pages.small_model import make_checkpoint
from tests.test_cli import refused

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return make_checkpoint(tmp_path_factory.mktemp("served"), "small")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_a_model_is_served_until_ctrl_c(checkpoint, ctrl_c):
    command = [sys.executable, "-m", "llmviz", "serve", "--checkpoint", str(checkpoint)]
    server = subprocess.Popen(
        [*command, "--port", "0", "--block-size", "4"],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = server.stdout.readline()
        found = re.fullmatch(r"serving small at (http://127\.0\.0\.1:\d+/v1)\n", line)
        assert found, line + server.stderr.read()
        body = {"model": "small", "prompt": "Once", "max_tokens": 5, "temperature": 0}
        asked = urllib.request.Request(
            f"{found[1]}/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            given = json.loads(answer.read())
        assert given["usage"]["completion_tokens"] <= 5
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 130
        note, end = server.stderr.read().splitlines()
        assert "never taught to answer" in note and end == "interrupted"
    finally:
        server.kill()
        server.communicate()


def test_a_port_that_is_taken_is_one_line(checkpoint, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = ["serve", "--checkpoint", str(checkpoint), "--port", port]
        assert "in use" in refused(capsys, *given)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--block-size", "0"], "--block-size"),
        (["--policy", "first-come"], "--policy"),
        (["--policy", "split-fuse", "--token-budget", "4"], "--token-budget"),
        (["--port", "70000"], "--port"),
        (["--address", "not an address"], ""),
    ],
)
def test_wrong_options_are_refused_in_one_line(checkpoint, capsys, options, rule):
    assert rule in refused(capsys, "serve", "--checkpoint", str(checkpoint), *options)


def test_only_a_loopback_address_answers_to_its_own_names_alone():
    for own in ("127.0.0.1", "localhost", "::1", "127.0.0.2"):
        assert is_loopback(own) and "*" not in hosts_for(own) and own in hosts_for(own)
    for open_ in ("0.0.0.0", "192.168.0.5", "::", "a.example"):
        assert not is_loopback(open_) and hosts_for(open_) == ("*",)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"{% for %}", "the chat template cannot be read"),
        (b"{{", "the chat template cannot be read"),
        (b"\xff", "is not UTF-8"),
        (b"a\0", "looks binary"),
        (None, "cannot be read"),
    ],
)
def test_a_template_that_is_none_is_one_line(checkpoint, capsys, tmp_path, content, rule):
    file = tmp_path / "chat.jinja"
    if content is not None:
        file.write_bytes(content)
    given = ["serve", "--checkpoint", str(checkpoint), "--port", "0", "--chat-template", str(file)]
    assert rule in refused(capsys, *given)
