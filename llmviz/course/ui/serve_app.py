"""`streamlit run` for the command `app`: Ctrl-C ends it without an error.

    python -m llmviz.course.ui.serve_app app.py --server.port 8501

One of several processes is handed its connections; see `llmviz.processes.handed_sockets`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.metadata import entry_points

import click

from llmviz.course import streamlit_parts
from llmviz.processes.handed_sockets import SETTING, HandedSockets


def main() -> int:
    """Serve until a signal comes; return the exit code."""
    if SETTING in os.environ:
        # Not for the processes that this one starts.
        streamlit_parts.listen_at(HandedSockets(fileno=int(os.environ.pop(SETTING))))
    (streamlit,) = entry_points(group="console_scripts", name="streamlit")
    try:
        streamlit.load().main(["run", *sys.argv[1:]], prog_name="streamlit", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt, asyncio.CancelledError):
        pass  # a signal while it still starts cancels the server's own task
    return 0


if __name__ == "__main__":
    sys.exit(main())
