"""`app`: serve the lessons in the browser."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

from llmviz.child import python_module
from llmviz.cli import app_processes
from llmviz.cli.options import whole
from llmviz.paths import APP

MOST = 64  # processes


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "app",
        help="serve the lessons in the browser",
        examples=(
            "app",
            "app --port 8600",
            "app --processes 2",
            "app --address 0.0.0.0 -- --server.headless true",
        ),
        description=(
            "Serve the lessons: this is `streamlit run` on this project's app.py. Runs are read "
            "from and written to runs/ in the current folder."
        ),
    )
    given = parser.add_argument
    given("--port", type=whole(1, 65535), default=8501, help="default 8501")
    given("--address", default="localhost", help="default localhost; 0.0.0.0 serves the network")
    given(
        "--processes",
        type=whole(1, MOST),
        default=1,
        help="behind this address, for more visitors than one core can serve; default 1",
    )
    given(
        "options",
        nargs="*",
        metavar="-- OPTION",
        help="any options of `streamlit run`, such as -- --server.headless false",
    )
    parser.set_defaults(run=run)


def command(given: argparse.Namespace) -> list[str]:
    """The command line of the server; what comes later there counts more."""
    place = ["--server.port", str(given.port), "--server.address", given.address]
    return [*python_module("llmviz.course.ui.serve_app"), str(APP), *place, *given.options]


def run(given: argparse.Namespace) -> int:
    """Become the server, so that a signal reaches it; on Windows wait for it to end."""
    if given.processes > 1:
        return app_processes.serve(given.address, given.port, given.processes, command(given))
    if os.name != "nt":
        os.execv(sys.executable, command(given))
    return subprocess.call(command(given))
