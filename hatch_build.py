"""What an installed package needs: ranges around the pinned versions of requirements.txt."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

FIRST_YEAR = 1000  # from here on, a version begins with its year, and says nothing of what changed


class Requirements(MetadataHookInterface):
    """Reads the dependencies from requirements.txt, so that they are written once."""

    def update(self, metadata: dict) -> None:
        """Set the dependencies of the package."""
        lines = Path(self.root, "requirements.txt").read_text(encoding="utf-8").splitlines()
        metadata["dependencies"] = [
            as_range(line) for line in lines if line and not line.startswith("#")
        ]


def as_range(pinned: str) -> str:
    """Return the versions that go as well as a pinned one: from its minor to the next major.

    So the package stands beside others that need the same. What the app is tested with is pinned.

    >>> as_range("torch==2.13.0"), as_range("regex==2026.11.15")
    ('torch>=2.13,<3', 'regex>=2026.11')
    """
    name, major, minor = re.fullmatch(r"([\w.\[\]-]+)==(\d+)\.(\d+)(?:\.\w+)*", pinned).groups()
    last = "" if int(major) >= FIRST_YEAR else f",<{int(major) + 1}"
    return f"{name}>={major}.{minor}{last}"
