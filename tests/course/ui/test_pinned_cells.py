"""What a picture reports goes into the controls of the page."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from llmviz.course.ui import pinned_cells
from llmviz.course.ui.pinned_cells import bound, link_of, one_of, or_first, second_of, windows_link


@pytest.mark.parametrize(
    ("reported", "held"),
    [
        (
            {"step": 1, "pinned": ["w", 1, 2], "chosen": [0, 3], "window": [["C", 4], ["F", 0]]},
            {"stage": "b", "cell": "w.1.2", "token": 3, "seen": "C.4"},
        ),
        ({"step": 2}, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
        ({"step": -1, "chosen": None}, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
        ({"step": "1"}, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
        (None, {"stage": "old", "cell": "", "token": -1, "seen": ""}),
    ],
)
def test_controls_hold_what_was_reported_and_no_step_that_there_is_not(reported, held, monkeypatch):
    monkeypatch.setattr(pinned_cells, "st", SimpleNamespace(session_state={"part": reported}))
    state = {"stage": "old"}
    bound(
        state,
        "part",
        step=("stage", one_of("ab")),
        pinned=("cell", link_of),
        chosen=("token", second_of),
        window=("seen", windows_link),
    )()
    assert state == held


def test_what_needs_no_change_goes_into_its_control_as_it_is(monkeypatch):
    state = {"tick": 4, "row": 1}
    for reported, held in (({"step": 0}, {"tick": 0, "row": 1}), (None, {"tick": 0, "row": 1})):
        monkeypatch.setattr(pinned_cells, "st", SimpleNamespace(session_state={"film": reported}))
        bound(state, "film", step="tick", chosen="row")()
        assert state == held


def test_the_last_step_and_none_have_values_of_their_own():
    at = one_of([*range(3), -1])
    assert [at(step) for step in (0, 2, 3, 4, None)] == [0, 2, -1, None, None]
    assert or_first(None) == or_first(0) == 0 and or_first(2) == 2
