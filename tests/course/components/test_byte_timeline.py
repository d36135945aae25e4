"""What the time line of bytes is sent: whole, and refused where it does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.components.byte_timeline.view import Life, Section, timeline_payload

LIVE = np.array([[4, 4, 4], [0, 8, 0]])
LIVES = [Life("w", 0, 4, 0, 3), Life("t", 1, 8, 1, 2)]
SECTIONS = [Section("forward", "a", 0), Section("backward", "a", 2)]


def payload(**changes):
    given = {
        "live": LIVE,
        "lives": LIVES,
        "kinds": ["kept", "passing"],
        "sections": SECTIONS,
        "operations": ["", "mm", "mm"],
    }
    return timeline_payload(*(given | changes).values())


def test_everything_travels():
    sent = payload()
    np.testing.assert_array_equal(sent["live"], LIVE)
    np.testing.assert_array_equal(sent["lives"], [[0, 0, 0, 3], [1, 1, 1, 2]])
    assert sent["names"] == ["w", "t"] and sent["sizes"].tolist() == [4, 8]
    assert sent["sections"] == [["forward", "a", 0], ["backward", "a", 2]]


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        (dict(live=LIVE[0]), r"live must be \(2, moments\)"),
        (dict(live=-LIVE), "must not be negative"),
        (dict(kinds=["one"]), r"live must be \(1, moments\)"),
        (dict(operations=["mm"]), "3 moments need as many operations; got 1"),
        (dict(sections=[]), "sections must begin at 0"),
        (dict(sections=[Section("a", "b", 1)]), "sections must begin at 0"),
        (dict(sections=[*SECTIONS, Section("a", "b", 3)]), "rise below 3"),
        (dict(lives=[Life("w", 0, 4, 2, 2)]), "the life of 'w' does not fit"),
        (dict(lives=[Life("w", 2, 4, 0, 2)]), "the life of 'w' does not fit"),
        (dict(live=np.ones((7, 3)), kinds=list("abcdefg")), "colours for 1 to 6 kinds; got 7"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(changes, rule):
    with pytest.raises(ValueError, match=rule):
        payload(**changes)
