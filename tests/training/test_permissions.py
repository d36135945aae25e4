"""Servers that share a folder of runs leave each other's visitors their runs."""

from __future__ import annotations

import pytest

from llmviz.training import run_folders
from llmviz.training.permissions import claim_private

pytestmark = pytest.mark.usefixtures("system_locks")


@pytest.fixture
def private_run(tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    folder = run_folders.new_private_folder()
    folder.mkdir(parents=True)
    return folder


def test_what_a_server_that_is_gone_left_is_cleared(private_run):
    assert claim_private(clear=True) is not None
    assert not private_run.exists()


def test_a_second_server_leaves_the_first_ones_runs(private_run):
    first = claim_private(clear=False)
    second = claim_private(clear=True)
    assert first is not None and second is not None
    assert private_run.exists()


def test_a_server_that_starts_again_leaves_the_others_runs(private_run):
    first = claim_private(clear=False)
    second = claim_private(clear=False)
    first.close()  # it was killed
    first = claim_private(clear=True)
    assert private_run.exists()
    first.close()
    second.close()
    assert claim_private(clear=True) is not None
    assert not private_run.exists()
