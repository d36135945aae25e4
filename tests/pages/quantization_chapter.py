"""The chapter on quantization for its tests: opened by a link, and any grid that it offers."""

from __future__ import annotations

from hypothesis import strategies as some

from llmviz.quantization.scheme import PER, Scheme
from tests.pages.harness import fine_part

schemes = some.builds(
    Scheme, bits=some.integers(2, 8), symmetric=some.booleans(), per=some.sampled_from(PER)
)


def opened(**link):
    return fine_part("efficiency", "quantization", **link)
