"""The bundled measurements of tags, names and probes, read once for all chapters."""

from typing import Any

from llmviz.language.role_scores import load_scores
from llmviz.ui import kit


@kit.kept(1)
def card() -> dict[str, Any]:
    """Return the bundled measurements; ValueError where they are absent or damaged."""
    return load_scores()
