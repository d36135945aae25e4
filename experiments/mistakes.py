"""Short runs that go wrong in one way each, beside those that do not; bundled with their curves.

Makes what `llmviz.training.mistakes` reads.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.training.mistakes import PLANS, make


def main() -> None:
    """Read the arguments and train."""
    parser = argparse.ArgumentParser(description="Train the bundled short runs again.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PLANS)}")
    parser.add_argument("--to", type=Path, default=EXPERIMENT_FOLDER, help="where the folders go")
    given = parser.parse_args()
    for name in given.names or PLANS:
        if name not in PLANS:
            parser.error(f"NAME must be one of {', '.join(PLANS)}; got {name}")
        make(name, given.to)


if __name__ == "__main__":
    main()
