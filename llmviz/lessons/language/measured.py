"""The bundled measurements of tags, names and probes, read once for all chapters."""

from __future__ import annotations

from typing import Any

from llmviz.language.role_scores import load_scores
from llmviz.ui.kept import kept


@kept(1)
def card() -> dict[str, Any]:
    """Return the bundled measurements; ValueError where they are absent or damaged."""
    return load_scores()
