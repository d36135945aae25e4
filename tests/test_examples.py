"""The examples in docstrings are what the functions give."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.sources import ROOT

WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "llmviz").rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_are_right(name):
    tried = doctest.testmod(importlib.import_module(name))
    assert tried.attempted and not tried.failed
