"""Another step of the pipeline is one more entry of the list: engine, lesson and links take it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from llmviz.sampling import STEPS, usual_order

ROOT = Path(__file__).parents[2]

# The lesson reads the list when it is imported, so all this runs in a process of its own.
# Top-a: what has less than a share of the square of the largest probability is cut.
PROGRAM = """
import json, sys
import numpy as np
from llmviz.sampling import STEPS, StepKind, sampling_steps, softmax, usual_order

def keep_top_a(logits, a):
    p = softmax(logits)
    return np.where(p >= a * p.max() ** 2, logits, -np.inf)

def check(a):
    if not 0 <= a <= 1:
        raise ValueError(f"added_step must be from 0 to 1; got {a}")

before = usual_order()
STEPS.insert(before.index("top_p") + 1, StepKind(
    "added_step", keep_top_a, neutral=0.0, check=check, title="top-a", hint="The unlikely are cut.",
    control="addedstep", low=0.0, high=1.0, stops=(0.0, 0.2, 0.5, 1.0),
))
logits = np.log([0.5, 0.3, 0.15, 0.05])
found = {
    "order": usual_order(),
    "cut": sampling_steps(logits, added_step=0.8)["added_step"].cut.tolist(),
    "neutral": sampling_steps(logits)["added_step"].active,
    "refused": [],
}
for settings in ({"added_step": 2.0}, {"top_b": 1.0}):
    try:
        sampling_steps(logits, **settings)
    except ValueError as error:
        found["refused"].append(str(error))

from llmviz.course.ui import engine
from tests.pages.harness import boxes, open_page, sent, snippets, run_snippet

engine.start()
assert engine.wait(120)
old = "repetition_penalty,banned,temperature,top_p,top_k,min_p"
for name, link in {
    "plain": {"everystep": "1"},
    "old": {"order": old, "p": "0.9", "temperature": "2", "everystep": "1"},
    "new": {"addedstep": "0.5"},
}.items():
    app = open_page("sampling", prompt="Mila found a ball", **link)
    board = sent(app, "sampler")
    found[name] = {
        "problems": [str(error.value) for error in app.exception] + [boxes(app)],
        "columns": [column["name"] for column in board["columns"]],
        "controls": [control["name"] for control in board["controls"]],
        "address": app.query_params.get("addedstep"),
        "snippet": [run_snippet(code).strip() == prints for code, prints in snippets(app)],
        "names_it": any("added_step=0.5" in code for code, _ in snippets(app)),
    }
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def seen(folder, tmp_path_factory):
    program = tmp_path_factory.mktemp("seventh") / "program.py"  # a file: its source is shown
    program.write_text(PROGRAM, encoding="utf-8")
    ran = subprocess.run(
        (sys.executable, str(program)),
        cwd=ROOT,
        env={**os.environ, "LLMVIZ_CHECKPOINTS": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def test_the_pipeline_runs_it_in_its_place(seen):
    names = [name for name in seen["order"] if name != "added_step"]
    assert names == list(usual_order())
    assert seen["order"].index("added_step") == seen["order"].index("top_p") + 1
    assert seen["cut"] == [False, False, True, True]  # below 0.8 · 0.5²
    assert not seen["neutral"]
    assert seen["refused"] == [
        "added_step must be from 0 to 1; got 2.0",
        f"there is no step 'top_b'; the steps are {', '.join(seen['order'])}",
    ]


def test_the_lesson_shows_it_and_its_snippet_uses_it(seen):
    for name in ("plain", "old", "new"):
        assert seen[name]["problems"] == [""]
        assert "added_step" in seen[name]["columns"] and "added_step" in seen[name]["controls"]
        assert all(seen[name]["snippet"])
    assert seen["new"]["names_it"] and not seen["plain"]["names_it"]
    assert seen["new"]["address"]


def test_a_link_that_was_made_before_it_keeps_its_order(seen):
    old = {kind.name for kind in STEPS if kind.in_old_links}
    columns = [name for name in seen["old"]["columns"] if name in old]
    assert columns == ["repetition_penalty", "temperature", "top_p", "top_k", "min_p"]
    names = seen["old"]["columns"]  # it stands behind the one it usually follows
    assert names.index("added_step") == names.index("top_p") + 1
