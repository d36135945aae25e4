"""What a package says of itself: ranges around the pinned versions, addresses, its description."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

# The oldest versions that were tried with the tests. numpy's matvec came with 2.2; transformers
# 4.57 asks for these of tokenizers and the hub, and a test installs both. tiktoken 0.7 cuts by an
# older Unicode. Others begin where they are pinned, to the last number, because a hole is mended in
# that one: jinja2, whose sandbox chat templates run in, was left by CVE-2025-27516 before 3.1.6,
# and python-multipart, starlette and uvicorn read what a stranger sends.
OLDEST = {"tokenizers": "0.22", "huggingface_hub": "0.34"}
OLDEST |= {"numpy": "2.2", "pandas": "2.2.3", "plotly": "6.0.1", "tiktoken": "0.8"}
FIRST_YEAR = 1000  # from here on, a version begins with its year, and says nothing of what changed


class Requirements(MetadataHookInterface):
    """Reads requirements.txt and README.md, so that what they say is written once."""

    def update(self, metadata: dict) -> None:
        """Set the dependencies, the links and the description of the package."""
        address = self.config.get("repository", "").rstrip("/")
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = with_addresses(readme, address)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = links(address) if address else {}
        lines = Path(self.root, "requirements.txt").read_text(encoding="utf-8").splitlines()
        metadata["dependencies"] = [
            as_range(line) for line in lines if line and not line.startswith("#")
        ]


def as_range(pinned: str) -> str:
    """Return the versions that go as well as a pinned one: from it, or an older one that was tried,
    to the next major.

    So the package stands beside others that need the same. What the app is tested with is pinned.

    >>> as_range("jinja2==3.1.6"), as_range("regex==2026.11.15"), as_range("numpy==2.4.6")
    ('jinja2>=3.1.6,<4', 'regex>=2026.11.15', 'numpy>=2.2,<3')
    """
    name, version, major = re.fullmatch(r"([\w.\[\]-]+)==((\d+)(?:\.\w+)+)", pinned).groups()
    last = "" if int(major) >= FIRST_YEAR else f",<{int(major) + 1}"
    return f"{name}>={OLDEST.get(name, version)}{last}"


def links(address: str) -> dict[str, str]:
    """Return what a package index shows beside the description."""
    return {
        "Repository": address,
        "Documentation": f"{address}#readme",
        "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def with_addresses(text: str, address: str) -> str:
    """Return Markdown whose pictures and links lead to the repository from everywhere.

    Without an address pictures are left out, and of links to files their words stay.

    >>> with_addresses("![A](docs/a.png) [b](B.md) [c](https://c.org) [d](#d)", "https://h.org/x")
    '![A](https://h.org/x/raw/HEAD/docs/a.png) [b](https://h.org/x/blob/HEAD/B.md) [c](https://c.org) [d](#d)'
    >>> with_addresses("![A](docs/a.png) [b](B.md)", "")
    ' b'
    """  # noqa: E501

    def whole(found: re.Match) -> str:
        mark, words, place = found.groups()
        if place.startswith(("#", "https:", "http:", "mailto:")):
            return found[0]
        if not address:
            return "" if mark else words
        return f"{mark}[{words}]({address}/{'raw' if mark else 'blob'}/HEAD/{place})"

    return re.sub(r"(!?)\[([^\[\]]*)\]\(([^()\s]+)\)", whole, text)
