"""Make bundled records again: `python -m experiments make NAME`, `python -m experiments list`.

Each record of `data/` that lessons read is made by one command, from seeds. What stands behind its
name is handed on: `--to FOLDER` writes to another folder. `--check` makes a small part again and
compares it with what is bundled.
"""

from __future__ import annotations

import argparse
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDS: dict[str, dict[str, str]] = tomllib.loads(
    (ROOT / "experiments" / "records.toml").read_text("utf-8")
)
"""By name: how long it takes, what reads it, its tests for a check; see `experiments/NAME.py`."""


def module(name: str) -> str:
    """Return the module that makes a record."""
    return f"experiments.{name.replace('-', '_')}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments and make what they name; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Make bundled records again."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name all records, how long each takes, and what reads it")
    make = commands.add_parser("make", help="make one record again, or all", add_help=False)
    make.add_argument("name", choices=[*RECORDS, "all"], metavar="NAME", help="a record, or all")
    make.add_argument("--check", action="store_true", help="make a small part again and compare")
    given, rest = parser.parse_known_args(arguments)
    if given.command == "list":
        width, wide = max(map(len, RECORDS)), max(len(one["takes"]) for one in RECORDS.values())
        sys.stdout.writelines(
            f"{name:{width}}  {record['takes']:{wide}}  {record['read_by']}\n"
            for name, record in RECORDS.items()
        )
        return 0
    names = list(RECORDS) if given.name == "all" else [given.name]
    if given.check:
        tests = sorted({test for name in names for test in RECORDS[name]["check"].split()})
        line = [sys.executable, "-m", "pytest", "-q", "-m", "", *tests]  # also of the second tier
        return subprocess.call(line, cwd=ROOT)
    for name in names:
        sys.argv = [f"python -m experiments make {name}", *rest]
        runpy.run_module(module(name), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
