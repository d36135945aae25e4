"""The states that the film of a serving engine gives each text, as the browser computes them."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import asdict, replace

import pytest

from llmviz.course.components.serving_film.view import PHASES, STATES, FilmTick
from llmviz.paths import COURSE

RUN = COURSE / "components" / "serving_film" / "run.js"
TICK = FilmTick(0.0, 1.0, (), 0, (), (), (), (), 4, 0)
PREFILL, DECODE = (PHASES.index(phase) for phase in ("prefill", "decode"))


def told_by(tmp_path, given: object, told: str) -> object:
    """What an expression of `given` and the names of run.js is."""
    (tmp_path / "run.mjs").write_text(RUN.read_text("utf-8"), "utf-8")
    code = (
        f"import {{ allStates, textAt }} from './run.mjs'; const given = {json.dumps(given)};"
        f"console.log(JSON.stringify({told}))"
    )
    command = ["node", "--input-type=module", "--eval", code]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)


NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not here")


@NODE
def test_a_hypothesis_has_a_text_until_the_search_writes_its_own(tmp_path):
    given = {"pieces": [[3, "a cat"], [3, " sat"]], "texts": [[0, "a"], [2, "the dog"], [3, ""]]}
    texts = told_by(tmp_path, given, "[0, 1, 2, 3, 4].map((at) => textAt(given, at))")
    assert texts == ["a", "a", "the dog", "a cat sat", "a cat sat"]
    written = {"pieces": [[1, "a"], [2, "b"]], "texts": []}
    assert told_by(tmp_path, written, "[0, 1, 2].map((at) => textAt(given, at))") == ["", "a", "ab"]


@NODE
def test_a_sample_that_is_pushed_out_before_its_first_row_is_shown_so(tmp_path):
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
    told = (
        "given.sequences.map((_, one) => given.ticks.map((_, at) => allStates(given).at(one, at)))"
    )
    assert told_by(tmp_path, given, told) == [
        ["waiting", "prefill", "decode", "decode", "over"],
        ["away", "away", "preempted", "prefill", "decode"],
        ["away", "away", "swapped", "swapped", "decode"],
    ]
