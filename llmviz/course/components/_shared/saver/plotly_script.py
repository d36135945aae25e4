"""Plotly's script for a page that stands alone: the whole of it is 4.8 MB, most charts need 1.5."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import plotly

from llmviz.paths import DATA

WHOLE = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
CARTESIAN = DATA / "plotly-cartesian.min.js"
# The kinds of traces that it draws.
DRAWN = frozenset({"bar", "box", "contour", "heatmap", "histogram", "histogram2d"})
DRAWN |= {"histogram2dcontour", "image", "pie", "scatter", "scatterternary", "violin"}


def script_for(kinds: Iterable[str]) -> Path:
    """Return the smallest script here that draws all these kinds of traces.

    >>> script_for(["bar", "scatter"]).name, script_for(["scatter3d"]).name
    ('plotly-cartesian.min.js', 'plotly.min.js')
    """
    return CARTESIAN if DRAWN.issuperset(kinds) else WHOLE
