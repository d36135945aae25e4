"""Make bundled records again: `python -m experiments make NAME`, `python -m experiments list`.

Each record of `data/` that lessons read is made by one command, from seeds. What stands behind its
name is handed on: `--to FOLDER` writes to another folder.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Sequence

RECORDS = {
    "answering-heads": "6 minutes",
    "beyond-context": "14 minutes",
    "chat": "10 minutes",
    "distilled": "74 minutes",
    "facts": "a minute",
    "features": "an hour",
    "first-letter": "11 minutes",
    "gamed-rewards": "8 minutes",
    "grokking": "25 minutes",
    "induction": "10 minutes",
    "labelled-texts": "some minutes",
    "leaning": "a minute",
    "letter-map": "seconds",
    "letters": "20 minutes",
    "many-machines": "a minute",
    "mistakes": "half a minute",
    "model-errors": "9 minutes",
    "more-tries": "a minute",
    "moved-answers": "7 minutes",
    "passage-recall": "a minute",
    "passages": "12 minutes",
    "planted": "a minute",
    "quantization": "3 minutes",
    "reward-models": "45 minutes",
    "reward-runs": "half an hour",
    "scaling": "half an hour",
    "scaling-fits": "6 minutes",
    "serving": "seconds",
    "serving-texts": "seconds",
    "smoothed": "11 minutes",
    "steering": "3 minutes",
    "sums": "some minutes",
    "superposition": "a minute",
    "tested": "a minute",
    "think-first": "an hour",
    "think-tasks": "25 minutes",
    "token-letters": "a minute",
    "tokenizers": "a minute",
    "tools": "a quarter of an hour",
}
"""By name: about how long it takes on two cores. `experiments/NAME.py` makes it, with _ for -."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the arguments and make what they name; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="Make bundled records again."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name all records, and how long each takes")
    make = commands.add_parser("make", help="make one record again, or all", add_help=False)
    make.add_argument("name", choices=[*RECORDS, "all"], metavar="NAME", help="a record, or all")
    given, rest = parser.parse_known_args(arguments)
    if given.command == "list":
        width = max(map(len, RECORDS))
        sys.stdout.writelines(f"{name:{width}}  {takes}\n" for name, takes in RECORDS.items())
        return 0
    for name in RECORDS if given.name == "all" else [given.name]:
        sys.argv = [f"python -m experiments make {name}", *rest]
        runpy.run_module(f"experiments.{name.replace('-', '_')}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
