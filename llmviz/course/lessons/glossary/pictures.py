"""Small pictures beside a few terms, computed as the engine does: bars or cells of HTML alone."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from html import escape

import numpy as np

from llmviz.corpus.corpora import CORPORA
from llmviz.course.lessons.glossary import words
from llmviz.sampling.steps import apply_temperature, keep_top_k, softmax

SCORES = np.array([0.5, 2.0, 1.0, 0.0, 1.5])
HEAT = 0.5, 1.0, 2.0
SIZE = 6  # tokens of a mask
WAVE = np.linspace(0, 2 * np.pi, 24, endpoint=False)
MOST_FREQUENT = 24


def rows_of(term: str) -> list[tuple[str, np.ndarray]]:
    """Return what is drawn beside a term: numbers from 0 to 1, each row named; mostly nothing.

    Numbers in two dimensions are cells.
    """
    shares = softmax(SCORES)
    match term:
        case "softmax":
            return [(words.scores, SCORES / SCORES.max()), (words.shares, shares)]
        case "temperature":
            return [(f"T = {t:g}", softmax(apply_temperature(SCORES, t))) for t in HEAT]
        case "top-k":
            return [(words.shares, shares), ("k = 2", softmax(keep_top_k(SCORES, 2)))]
        case "one-hot":
            return [("", np.eye(SIZE)[2])]
        case "causal mask":
            return [("", np.tri(SIZE))]
        case "sliding window":
            return [("", np.tri(SIZE) - np.tri(SIZE, k=-3))]
        case "ReLU":
            return [("", np.maximum(np.linspace(-1, 1, 25), 0))]
        case "Fourier transform":
            waves = [np.sin(WAVE), np.sin(3 * WAVE) / 2]
            drawn = [(waves[0] + waves[1] + 1.5) / 3, *((wave + 1) / 2 for wave in waves)]
            return list(zip([words.numbers, *words.waves], drawn, strict=True))
        case "quantization":
            weights = (np.sin(WAVE) + 1) / 2
            return [(words.weights, weights), (words.rounded, np.round(3 * weights) / 3)]
        case "Zipf's law":
            counts = Counter(re.findall(r"\w+", CORPORA["story"].load().text.lower()))
            found = np.array([count for _, count in counts.most_common(MOST_FREQUENT)])
            return [(words.counts, found / found[0])]
    return []


@cache
def picture(term: str) -> str:
    """Return the picture of a term as HTML; "" for most."""
    rows = [f"<span>{_bars(values)}{escape(name)}</span>" for name, values in rows_of(term)]
    return f'<span class="lv-bars" aria-hidden="true">{"".join(rows)}</span>' if rows else ""


def _bars(values: np.ndarray) -> str:
    if values.ndim == 1:
        return f"<b>{''.join(f'<i style=height:{100 * value:.0f}%></i>' for value in values)}</b>"
    cells = "".join("<i></i>" if cell else '<i class="lv-no"></i>' for cell in values.flat)
    return (
        f'<b class="lv-cells" style="grid-template-columns:repeat({len(values)},1fr)">{cells}</b>'
    )
