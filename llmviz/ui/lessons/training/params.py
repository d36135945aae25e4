"""The controls that the chapters of this lesson share, as its link carries them."""

from __future__ import annotations

from llmviz.ui import codec

COMMON: list[codec.Param] = []
