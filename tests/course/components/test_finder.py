"""What the search finds, and what counts as kept by this browser, run in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from llmviz.course.components._shared.bundle import COMPONENTS
from llmviz.course.lessons import LESSONS

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")
DATA = {
    "words": {"glossary": "Glossary"},
    "chapters": [
        {"place": "attention/steps", "title": "Step by step", "lesson": "Attention",
         "question": "How does a word look at others?", "more": ["Why divide by √d?"]},
        {"place": "history/mlp", "title": "MLP", "lesson": "From counts to GPT",
         "question": "Can a network count?", "more": ["Naïve counts", "What is C++ (a.b)?"]},
    ],
    "terms": [{"name": "attention", "text": "Each token takes shares."},
              {"name": "count", "text": "How often. It needs no attention."}],
}  # fmt: skip


def run(module: str, code: str) -> Any:
    """Return what JavaScript prints that has a module's exports in `it`."""
    path = (COMPONENTS / module).as_uri()
    code = f'import * as it from "{path}"; {code}'
    command = ["node", "--input-type=module", "--eval", code]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def found(wanted: str) -> list[str]:
    hits = f"it.hits({json.dumps(DATA)}, {json.dumps(wanted)}).map((hit) => hit.place)"
    return run("finder/search.js", f"console.log(JSON.stringify({hits}))")


def test_titles_come_before_questions_and_these_before_what_is_inside():
    assert found("") == ["attention/steps", "history/mlp"]
    assert found("MLP") == ["history/mlp"]
    assert found("attention")[0] == "glossary/attention"
    assert set(found("attention")) == {"glossary/attention", "attention/steps", "glossary/count"}
    assert found("divide")[0] == "attention/steps"
    assert found("count")[0] == "glossary/count"
    assert found("naive") == ["history/mlp"], "without its accent"
    assert found("look others") == ["attention/steps"], "all words, in any place"
    assert found("zebra") == []


def test_what_is_typed_is_text_and_no_pattern():
    assert found("c++ (a.b)") == ["history/mlp"]
    for wanted in ("(", "[", "\\", ".*", "💥", "\ud800", " " * 300):
        assert isinstance(found(wanted), list)


def test_a_link_of_a_hit_is_the_address_of_its_chapter_or_term():
    hits = f"it.hits({json.dumps(DATA)}, 'attention').map((hit) => hit.link)"
    links = run("finder/search.js", f"console.log(JSON.stringify({hits}))")
    assert set(links) == {
        "attention?part=steps", "glossary?find=attention", "glossary?find=count"
    }  # fmt: skip


NOTHING = {"opened": [], "answered": {}}


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "no JSON",
        "null",
        "[]",
        '{"version": 0, "opened": [], "answered": {}}',
        '{"version": 1, "opened": "x", "answered": {}}',
        '{"version": 1, "opened": [1], "answered": {}}',
        '{"version": 1, "opened": [], "answered": []}',
        '{"version": 1, "opened": [], "answered": {"a/b": {"q": "yes"}}}',
        json.dumps({"version": 1, "opened": ["a/b" * 9000], "answered": {}}),
    ],
)
def test_what_is_kept_by_another_version_or_by_hand_counts_as_nothing(kept):
    storage = f"globalThis.localStorage = {{ getItem: () => {json.dumps(kept)} }};"
    assert run("_shared/progress.js", f"{storage} console.log(JSON.stringify(it.progress()))") == (
        NOTHING
    )


def test_a_browser_that_keeps_nothing_goes_on():
    code = """
        const refuse = () => { throw new Error("refused") };
        globalThis.localStorage = { getItem: refuse, setItem: refuse };
        globalThis.window = { dispatchEvent: refuse };
        it.noteOpened("a/b"); it.noteAnswer("a/b", "q", true);
        console.log(JSON.stringify(it.progress()));
    """
    assert run("_shared/progress.js", code) == NOTHING


def test_what_is_opened_and_answered_is_kept_once():
    code = """
        let kept = null, told = 0;
        globalThis.localStorage = { getItem: () => kept, setItem: (name, text) => { kept = text } };
        globalThis.window = { dispatchEvent: () => told++ };
        it.noteOpened("a/b"); it.noteOpened("a/b"); it.noteOpened("a/c");
        it.noteAnswer("a/b", "q", false); it.noteAnswer("a/b", "q", true);
        it.noteAnswer("a/b", "q", true);
        console.log(JSON.stringify([it.progress(), told]));
    """
    kept, told = run("_shared/progress.js", code)
    assert kept == {"opened": ["a/b", "a/c"], "answered": {"a/b": {"q": True}}}
    assert told == 4, "listeners hear of what changed only"


def test_what_was_read_under_an_old_name_of_a_chapter_stays_read():
    moved = {
        f"{lesson.key}/{old}": f"{lesson.key}/{new}"
        for lesson in LESSONS
        for old, new in lesson.moved.items()
    }
    first, now = next(iter(moved.items()))
    answered = {old: {old: True} for old in moved} | {now: {"x": False}}
    kept = json.dumps({"version": 1, "opened": [first, "a/b", now], "answered": answered})
    storage = f"globalThis.localStorage = {{ getItem: () => {json.dumps(kept)} }};"
    known = run("_shared/progress.js", f"{storage} console.log(JSON.stringify(it.progress()))")
    assert known["opened"] == [now, "a/b"]
    for old, new in moved.items():
        assert old not in known["answered"] and known["answered"][new][old]
    assert known["answered"][now]["x"] is False
