"""One test for all models: which letter came first, asked after 1 to 60 more letters.

Makes what `llmviz.training.first_letter` reads.

A string is 61 random letters from a to z. In training each string is asked once, after a number of
letters that is drawn from 1 to 60: which letter was the first? The letters in between carry no
hint, so what is right in more than one of 26 cases has been remembered. Measured is the answer at
every distance.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.first_letter import FOLDER, OPTIONS, TRAINING, make


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train the models of the first-letter test again.")
    parser.add_argument("names", nargs="*", metavar="MODEL", help=f"of {', '.join(OPTIONS)}")
    target = EXPERIMENT_FOLDER / FOLDER
    parser.add_argument("--to", type=Path, default=target, help="where the folders go")
    parser.add_argument("--steps", type=int, default=TRAINING.steps, help="fewer, for a trial")
    given = parser.parse_args()
    for name in given.names:
        if name not in OPTIONS:
            parser.error(f"MODEL must be one of {', '.join(OPTIONS)}; got {name}")
    if given.steps < 1:
        parser.error(f"--steps must be at least 1; got {given.steps}")
    for name in given.names or OPTIONS:
        make(name, given.to, given.steps)


if __name__ == "__main__":
    main()
