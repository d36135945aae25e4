"""Figures of the lesson on fine-tuning: arrays and labels in, plotly figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from llmviz.figures.theme import INK, POLES, Mode, bare_layout

HEIGHT = 420


def areas(
    parts: Sequence[tuple[str, str, int, str]],
    names: Mapping[str, str],
    whole: str,
    unit: str,
    mode: Mode = "light",
) -> go.Figure:
    """Return numbers as areas: each part a rectangle as large as its count.

    parts: (group, label, count, state) of each. names: what the states are called; they are the
    grey, the blue and the brown of the picture, in this order. whole: what all of it is called.
    """
    ink, (brown, blue) = INK[mode], POLES[mode]["neutral"]
    colours = dict(zip(names, (ink["line"], blue, brown), strict=True))
    texts = dict(zip(names, (ink["ink"], ink["surface"], ink["surface"]), strict=True))
    groups = list(dict.fromkeys(group for group, *_ in parts))
    totals = {group: sum(count for own, _, count, _ in parts if own == group) for group in groups}
    ids = ["", *groups, *(f"{group}/{label}/{state}" for group, label, _, state in parts)]
    raised = ink["raised"]
    areas = {
        "type": "treemap",
        "ids": ids,
        "labels": [whole, *groups, *(label for _, label, _, _ in parts)],
        "parents": [None, *([""] * len(groups)), *(group for group, *_ in parts)],
        "values": [sum(totals.values()), *totals.values(), *(count for _, _, count, _ in parts)],
        "branchvalues": "total",
        "sort": False,
        "marker": {
            "colors": [raised, *([raised] * len(groups)), *(colours[s] for *_, s in parts)],
            "line": {"width": 1, "color": ink["surface"]},
            "pad": {"t": 22, "l": 4, "r": 4, "b": 4},
        },
        "textfont": {
            "color": [ink["ink"]] * (1 + len(groups)) + [texts[state] for *_, state in parts]
        },
        "customdata": [""] * (1 + len(groups)) + [names[state] for *_, state in parts],
        "texttemplate": "%{label}<br>%{value:,}",
        "hovertemplate": f"%{{label}}<br>%{{value:,}} {unit}<br>%{{customdata}}<extra></extra>",
        "pathbar": {"visible": False},
        "tiling": {"pad": 2},
    }
    margin = {"l": 0, "r": 0, "t": 4, "b": 4}
    return go.Figure([areas], bare_layout(mode, height=HEIGHT, margin=margin))
