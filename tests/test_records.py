"""The commands that make records."""

import sys
from pathlib import Path

import pytest

from experiments._command import write_to
from llmviz.paths import EXPERIMENT_FOLDER


@pytest.mark.parametrize(
    ("typed", "folder"), [([], EXPERIMENT_FOLDER), (["--to", "a/b"], Path("a/b"))]
)
def test_a_record_is_made_in_the_folder_that_is_typed_or_in_its_own(typed, folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["record", *typed])
    made = []
    write_to(made.append, "Make it again.")
    assert made == [folder]


def test_a_wrong_argument_ends_with_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["record", "--two"])
    with pytest.raises(SystemExit):
        write_to(print, "Make it again.")
    assert "--two" in capsys.readouterr().err
