"""`site`: the course as plain files, which need no server."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from llmviz.cli.options import add_language, add_out, place, speak, tell, write
from llmviz.cli.worksheet import NO_BROWSER
from llmviz.obtainable.catalogue import OBTAINABLE


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "site",
        help="write the course as plain files, for any web host or a disk",
        examples=(
            "site course",
            "site course --app https://school.example/llmviz",
            "site hour --way hour",
            "site hora --way hour --lang es",
            "site course --only attention --only sampling/dice",
            "site course --model smollm2",
        ),
        description=(
            "Write every chapter at its default settings into a new folder: texts, pictures that "
            "move, questions, code, glossary, search. A browser opens index.html from the disk; "
            "no server and no network is needed. It takes some minutes."
        ),
    )
    given = parser.add_argument
    add_out(parser, "the new folder")
    some = parser.add_mutually_exclusive_group()
    some.add_argument(
        "--way",
        choices=["hour"],
        default="",
        help="write the five chapters of the hour and the whole machine, which a browser keeps",
    )
    given("--app", type=place, help="where the app is, for links to it; without it there are none")
    some.add_argument(
        "--only",
        type=place,
        action="append",
        default=[],
        metavar="NAME",
        help="write this lesson or LESSON/CHAPTER alone; may be given several times",
    )
    given(
        "--model",
        choices=list(OBTAINABLE),
        default="",
        help="write a page that loads this model, got before with `get`, into the browser",
    )
    add_language(parser)
    given("--json", action="store_true", help="one JSON object; progress to standard error")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write the site and say how large it is."""
    logging.getLogger(NO_BROWSER).disabled = True
    site = import_module("llmviz.course.site.write")
    speak(given)
    progress = partial(print, file=sys.stderr, flush=True) if given.json else write
    before = signal.signal(signal.SIGTERM, _stop)  # what is half written goes, as after Ctrl-C
    try:
        written = site.write_site(
            Path(given.out), given.app or "", given.only, progress, given.way, given.model
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    index = Path(given.out) / "index.html"
    about = {"index": str(index), "pages": written.pages, "bytes": written.bytes}
    line = f"{written.pages} pages, {written.bytes / 1e6:.1f} MB: {index}"
    tell(about, line, json=given.json)
    return 0


def _stop(number: int, frame: Any) -> None:
    sys.exit(128 + number)
