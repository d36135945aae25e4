"""The command of docs/CLASS.md for a class lets the class in and sends at once."""

from __future__ import annotations

import re
import shlex
import socket
import sys
import urllib.request

import pytest
from websockets.exceptions import InvalidStatus

from benchmarks.classroom import class_command
from tests.awaiting import awaited
from tests.classroom.conftest import ROOT, opened


def test_the_command_is_readmes():
    readme = (ROOT / "docs" / "CLASS.md").read_text("utf-8")
    (line,) = re.findall(r"^(streamlit run .*--server\.address.*)$", readme, re.M)
    assert class_command(9)[2:] == [*shlex.split(line), "--server.port", "9"]
    assert class_command(9)[:2] == [sys.executable, "-m"]


@pytest.mark.parametrize("host", ["your-host", "localhost", "127.0.0.1"])
def test_a_class_gets_in(served, host):
    assert "heading" in awaited(opened(served.port, host))


def test_other_names_are_refused(served):
    with pytest.raises(InvalidStatus):
        awaited(opened(served.port, "elsewhere.example"))


def test_a_page_of_another_origin_is_refused_and_nobody_asked(served):
    with pytest.raises(InvalidStatus):
        awaited(opened(served.port, "localhost", origin="http://elsewhere.example"))
    assert served.outside() == []


def test_it_sends_at_once_watches_no_files_and_counts_no_frozen_objects(served):
    with socket.create_connection(("127.0.0.1", served.port)) as own:
        own.sendall(b"GET /_stcore/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in own.recv(4096)
        port = own.getsockname()[1]
    awaited(opened(served.port, "localhost"))
    deeds = served.deeds.read_text("utf-8").splitlines()
    assert [deed for deed in deeds if deed.endswith(f" to {port}")] == [f"sends at once to {port}"]
    others = [deed for deed in deeds if not deed.startswith("sends ")]
    assert others == ["watches modules: False"]


def test_it_says_where_it_is(served):
    assert f"http://localhost:{served.port}" in served.output.read_text("utf-8")


def test_it_serves_its_own_page(served):
    with urllib.request.urlopen(f"http://127.0.0.1:{served.port}/") as page:
        assert page.status == 200
