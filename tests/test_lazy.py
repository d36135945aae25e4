"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import llmviz
import llmviz.models
import llmviz.sampling
import llmviz.serving
import llmviz.training

PACKAGES = (llmviz, llmviz.models, llmviz.sampling, llmviz.serving, llmviz.training)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda one: one.__name__)
def test_every_late_name_is_there_and_public(package):
    for name in package._NEED_TORCH:
        assert getattr(package, name) is not None
        assert name in vars(package)  # asked for once, it stays
        assert name in package.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_the_kind'"):
        package.nothing_of_the_kind  # noqa: B018


def test_torch_waits_until_a_name_needs_it():
    code = (
        "import sys, llmviz.models, llmviz.sampling, llmviz.serving, llmviz.training\n"
        "assert 'torch' not in sys.modules\n"
        "llmviz.models.GPT\n"
        "assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
