"""Stacks of untrained layers that two chapters draw."""

from __future__ import annotations

from llmviz.study.depth import DepthStudy, depth_study
from llmviz.ui.kept import kept


@kept(256)
def stack(
    layers: int, norm: str, shortcuts: bool = True, kind: str = "layer", seed: int = 0
) -> DepthStudy:
    """Return one stack's pass forward and back."""
    return depth_study(layers, norm, shortcuts, kind, seed=seed)
