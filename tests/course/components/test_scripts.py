"""What scripts of components find and say, and what counts as kept by a browser, run in Node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from llmviz.course.components._shared.bundle import COMPONENTS
from llmviz.course.components.serving_film.view import PHASES, STATES, FilmStep
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
        for old, new in lesson.hosts.items()
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


# ---- the summary of a picture


def said(*tables: dict) -> str:
    """Return the summary of these tables."""
    code = f"console.log(JSON.stringify(it.summary({json.dumps(tables)})))"
    return run("_shared/saver/summary.js", code)


def test_the_extremes_of_a_table_are_where_numpy_finds_them():
    for seed in range(3):
        values = np.random.default_rng(seed).normal(size=(5, 4)).round(2)
        rows = [[f"r{i}", *map(float, row)] for i, row in enumerate(values)]
        text = said({"title": "weights", "head": ["", "a", "b", "c", "d"], "rows": rows})
        assert text.startswith("weights: 5 rows, 20 numbers.")
        for name, place in (("largest", values.argmax()), ("smallest", values.argmin())):
            row, column = divmod(int(place), 4)
            found = re.search(rf"{name} is (\S+) at r{row}, {'abcd'[column]}\b", text)
            assert found and float(found[1]) == values[row, column]


def test_ties_one_value_no_numbers_and_covered_cells_are_said_as_they_are():
    table = {"title": "", "head": ["", "a", "b"], "rows": [["x", 2, 2], ["y", 2, 2]]}
    assert said(table) == "2 rows, 4 numbers. All are 2."
    table["rows"] = [["x", 3, 1], ["y", 3, "?"]]
    assert said(table) == (
        "2 rows, 3 numbers. The largest is 3 at x, a and 1 more; the smallest is 1 at x, b."
    )
    assert said({"title": "t", "head": ["word"], "rows": [["한국어"]]}) == "t: 1 row, 0 numbers."
    assert said() == said({"title": "", "head": None, "rows": []})
    many = [{"title": "", "head": ["", "a"], "rows": [["x", n]]} for n in range(6)]
    assert said(*many).endswith("2 more tables.")


def test_a_column_says_how_it_goes_from_its_first_to_its_last_number():
    for values, goes in (
        ([1, 2, 2, 3, 4], "from 1 to 4 and never falls."),
        ([4, 3, 2, 2, 1], "from 4 to 1 and never rises."),
        ([5, 5, 5, 5, 5], "from 5 to 5 and stays the same."),
        ([1, 3, 2, 5, 4], "from 1 to 4 and ends higher, not in a straight way."),
        ([4, 5, 2, 3, 1], "from 4 to 1 and ends lower, not in a straight way."),
        ([1, 5, 2, 3, 1], "from 1 to 1 and ends where it began."),
    ):
        table = {"title": "", "head": ["loss"], "rows": [[value] for value in values]}
        assert said(table).endswith(f"loss goes {goes}")


# ---- the film of a serving engine

TICK = FilmStep(0.0, 1.0, (), 0, (), (), (), (), 4, 0)
PREFILL, DECODE = (PHASES.index(phase) for phase in ("prefill", "decode"))


def told_by(given: object, told: str) -> object:
    """What an expression of `given` and of what run.js exports is."""
    code = f"const given = {json.dumps(given)}; console.log(JSON.stringify({told}))"
    return run("serving_film/run.js", code)


def test_a_hypothesis_has_a_text_until_the_search_writes_its_own():
    given = {"pieces": [[3, "a cat"], [3, " sat"]], "texts": [[0, "a"], [2, "the dog"], [3, ""]]}
    texts = told_by(given, "[0, 1, 2, 3, 4].map((at) => it.textAt(given, at))")
    assert texts == ["a", "a", "the dog", "a cat sat", "a cat sat"]
    written = {"pieces": [[1, "a"], [2, "b"]], "texts": []}
    assert told_by(written, "[0, 1, 2].map((at) => it.textAt(given, at))") == ["", "a", "ab"]


def test_a_sample_that_is_pushed_out_before_its_first_row_is_shown_so():
    ticks = [
        replace(TICK, waiting=(0,)),
        replace(TICK, rows=((0, PREFILL, 5),)),  # its samples 1 and 2 begin at the end of it
        replace(TICK, rows=((0, DECODE, 1),), preempted=(1, 2), waiting=(1,), swapped=(2,)),
        replace(TICK, rows=((0, DECODE, 1), (1, PREFILL, 6)), swapped=(2,), finished=(0,)),
        replace(TICK, rows=((1, DECODE, 1), (2, DECODE, 1))),
    ]
    given = {
        "sequences": [{}, {}, {}],
        "ticks": [asdict(tick) for tick in ticks],
        "stateNames": STATES,
    }
    each = "given.ticks.map((_, at) => it.allStates(given).at(one, at))"
    told = f"given.sequences.map((_, one) => {each})"
    assert told_by(given, told) == [
        ["waiting", "prefill", "decode", "decode", "over"],
        ["away", "away", "preempted", "prefill", "decode"],
        ["away", "away", "swapped", "swapped", "decode"],
    ]
