"""Who asks for less motion gets none: in styles by one rule for all, in scripts each time."""

from __future__ import annotations

import re
from pathlib import Path

import llmviz

FOLDER = Path(llmviz.__file__).parent
STYLES = sorted(FOLDER.rglob("*.css"))
MOVES = re.compile(r"\b(?:transition|animation)\b[^;}]*")
ASKS = "(prefers-reduced-motion: reduce)"
# Scripts that wait for a frame and move nothing.
DRAWN_ONCE = {"common.js", "image.js", "saver.js"}


def test_one_rule_ends_all_motion_of_styles_and_no_other_is_stronger():
    shared = (FOLDER / "course" / "components" / "_shared" / "common.css").read_text("utf-8")
    (rule,) = re.findall(rf"@media {re.escape(ASKS)} {{\s*(.*?)\s*}}\s*}}", shared, re.S)
    ended = rule.partition("{")[0].replace(" ", "").split(",")
    assert ended == [".lv*", ".lv*::before", ".lv*::after"]
    assert "transition: none !important" in rule and "animation: none !important" in rule
    for path in STYLES:
        style = path.read_text("utf-8").replace(rule, "")
        strong = [found for found in MOVES.findall(style) if "!important" in found]
        assert strong == [], path


def test_each_script_that_moves_something_frame_by_frame_asks_first():
    moving = [
        path
        for path in sorted((FOLDER / "course" / "components").rglob("*.js"))
        if "requestAnimationFrame" in path.read_text("utf-8") and path.name not in DRAWN_ONCE
    ]
    assert len(moving) >= 3
    for path in moving:
        assert ASKS in path.read_text("utf-8"), path
