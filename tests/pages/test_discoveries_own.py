"""The chapter "Your own discovery": what it refuses, how its runs go, and what it may say."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llmviz.course.lessons.discoveries.own import PARAMS, chapter, going, own_study, words
from llmviz.course.lessons.discoveries.own.chapter import Outcome
from llmviz.course.lessons.discoveries.own.own_study_folder import (
    BUNDLED,
    FILE,
    NUMBERS,
    RESULTS,
    STUDIES,
    Result,
    read_study,
    results_of,
)
from llmviz.course.ui import engine, runs
from llmviz.runs.manager import RunManager
from tests.pages.harness import boxes, charts, fine, fine_part, press, prose_of, sent
from tests.runs.test_manager import MADE, Pretender

LINK = {
    "studytext": "names",
    "studysetting": "n_embd",
    "studyvalues": "4, 8, 12",
    "studymeasure": "validation",
    "studyseeds": "2",
    "studysteps": "20",
    "studyprediction": "3",
    "studyhypothesis": "Wider is better.",
}

# What the link asks for.
STUDY = own_study.Study(
    "n_embd",
    (4, 8, 12),
    "validation",
    2,
    "3",
    LINK["studyhypothesis"],
    own_study.base_plan("gpt", "names", 20),
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder of runs of its own, and a manager whose processes only pretend."""
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path / "runs"))
    MADE.clear()
    made = RunManager(limit=1, process=Pretender)
    monkeypatch.setattr(made, "step_time", lambda plan, vocab_size=None: (0.01, ""))
    monkeypatch.setattr(runs, "manager", lambda: made)
    monkeypatch.setattr(runs, "_managers", [made])
    monkeypatch.setattr(engine, "ready", lambda: True)
    yield tmp_path / "runs"
    made.close(0)


def button(app, label: str):
    (found,) = (one for one in app.button if one.label == label)
    return found


def write_run(folder, steps: int, loss: float, total: int = 20) -> None:
    """What a run of so many steps leaves, with a loss that only this test knows."""
    like = BUNDLED / own_study.run_name(0, 0)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(like / "config.json", folder / "config.json")
    record = json.loads((like / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
    record |= {"step": steps, "validation_loss": loss if steps == total else None}
    (folder / "metrics.jsonl").write_text(json.dumps(record) + "\n", "utf-8")


def test_the_page_shows_the_bundled_study_as_its_table_has_it(home):
    app = fine_part("discoveries", "own", show="1")
    study = read_study(BUNDLED / FILE)
    found = Outcome(study, results_of(BUNDLED, study))
    drawn = charts(app)[0]["data"]
    for seed in range(study.seeds):
        values = [one[seed] for one in found.measured]
        assert list(drawn[seed]["y"]) == pytest.approx(values)
    means = [sum(one.values()) / len(one) for one in found.measured]
    assert list(drawn[-1]["y"]) == pytest.approx(means)
    said = prose_of(app)
    assert study.hypothesis in said.replace("&#x27;", "'")
    assert chapter.end_line(found) in said.replace("&#x27;", "'")
    assert not home.joinpath(STUDIES).exists()  # looking writes nothing
    bars = [row["value"] for row in sent(app, "case_rows")["rows"]]
    assert all(f"{bar:.3f}" in said for bar in bars)  # as the picture writes them
    few = prose_of(fine_part("discoveries", "own", show="1", studyseeds="1"))
    assert re.search(r"The model has \d+,\d{3} to \d+,\d{3} parameters", few)


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"studyvalues": "4"}, "n_embd needs 3 values"),
        ({"studyvalues": "4, 4, 8"}, "must differ; got 4 twice"),
        ({"studyvalues": "4, many, 8"}, "must be a whole number; got 'many'"),
        ({"studyvalues": "4, 8, 5000"}, "from 4 to 96; got 5000"),
        ({"studymodel": "bigram"}, "bigram has no setting n_embd"),
        ({"studymeasure": "rules"}, "known for the stories only"),
        ({"studysetting": "n_head", "studyvalues": "1, 2, 5"}, "n_head must divide n_embd"),
        ({"studyprediction": ""}, ""),
    ],
)
def test_what_cannot_be_studied_says_why(home, link, line):
    app = fine_part("discoveries", "own", **LINK | link)
    assert line in boxes(app)
    assert "Train all runs" not in [one.label for one in app.button]


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"studyseeds": "0"}, "a whole number from 1 to 5 is needed"),
        ({"studysteps": "many"}, "a whole number from 20 to 3000 is needed"),
        ({"studysetting": "n_kv_head"}, "is needed"),  # of another version
        ({"studymodel": "rwkv"}, "is needed"),
        ({"studydepth": "3"}, "which is not known here"),
        ({"studyhypothesis": "~broken"}, "damaged"),
    ],
)
def test_a_link_of_another_version_is_read_as_far_as_it_goes(home, link, line):
    app = fine_part("discoveries", "own", **LINK | link)
    assert line in boxes(app)


def test_without_an_expectation_nothing_trains_and_a_change_asks_for_another(home):
    app = fine_part("discoveries", "own", **LINK)
    assert not button(app, "Train all runs").disabled
    (values,) = (one for one in app.text_input if one.label == "Its three values")
    values.set_value("4, 8, 16").run()
    fine(app)
    assert "Choose first which value will be best" in prose_of(app)
    assert "Train all runs" not in [one.label for one in app.button]
    (expected,) = (one for one in app.selectbox if one.label == "Which value will be best?")
    expected.select("16").run()
    assert "Write your hypothesis first" in prose_of(app)
    (text,) = app.text_area
    text.set_value("It <b>will</b> be **so**.").run()
    fine(app)
    assert not button(app, "Train all runs").disabled


def test_what_takes_too_long_is_refused_with_both_times(home, monkeypatch):
    monkeypatch.setattr(runs.manager(), "step_time", lambda plan, vocab_size=None: (30.0, ""))
    app = fine_part("discoveries", "own", **LINK)
    assert "This server allows 30 min for a study" in boxes(app)
    monkeypatch.setenv("LLMVIZ_STUDY_MINUTES", "1000")
    app = fine_part("discoveries", "own", **LINK)
    assert not button(app, "Train all runs").disabled
    monkeypatch.setattr(runs.manager(), "step_time", lambda plan, vocab_size=None: None)
    app = fine_part("discoveries", "own", **LINK)
    assert button(app, "Train all runs").disabled
    assert "is being measured" in prose_of(app)
    monkeypatch.setattr(
        runs.manager(), "step_time", lambda plan, vocab_size=None: (None, "no *such* thing")
    )
    app = fine_part("discoveries", "own", **LINK)
    assert button(app, "Train all runs").disabled


def test_a_server_that_keeps_many_studies_takes_no_more(home, monkeypatch):
    monkeypatch.setenv("LLMVIZ_MAX_STUDIES", "1")
    folder = home / STUDIES / "own-another"
    folder.mkdir(parents=True)
    (folder / FILE).write_text("", "utf-8")
    app = fine_part("discoveries", "own", **LINK)
    press(app, "Train all runs")
    assert "keeps 1 studies already" in boxes(app)


def test_runs_are_begun_watched_stopped_gone_on_with_and_read(home):
    app = fine_part("discoveries", "own", **LINK)
    press(app, "Train all runs")
    (folder,) = (home / STUDIES).iterdir()
    study = read_study(folder / FILE)
    assert study.key == folder.name and study.hypothesis == "Wider is better."
    assert MADE[0].sent[-1]["plan"] == study.runs()[own_study.run_name(0, 0)].to_dict()
    (bar,) = app.get("progress")
    assert "0 of 6 runs are trained" in bar.proto.text
    write_run(folder / own_study.run_name(0, 0), 20, 2.5)
    MADE[0].says("ended", how="done", line="")
    MADE[0].says("ready")
    write_run(folder / own_study.run_name(1, 0), 10, 2.4)
    app.run()
    (bar,) = app.get("progress")
    assert "1 of 6 runs are trained; 30 of 120 steps" in bar.proto.text
    button(app, "Stop").click().run()
    MADE[0].says("ended", how="stopped", line="")
    MADE[0].says("ready")
    app.run()
    fine(app)
    assert "The study rests: 1 of 6 runs are trained" in prose_of(app)
    app = fine_part("discoveries", "own", **LINK)  # a link, or the server after a restart
    button(app, "Go on").click().run()
    assert MADE[0].sent[-1]["out"] == str(folder / own_study.run_name(1, 0))
    losses = {0: (2.5, 2.4, 2.3), 1: (2.51, 2.41, 2.31)}
    for seed, row in losses.items():
        for place, loss in enumerate(row):
            write_run(folder / own_study.run_name(place, seed), 20, loss)
    while runs.manager().series.is_active(study.key):
        MADE[0].says("ended", how="done", line="")
        MADE[0].says("ready")
    app = fine_part("discoveries", "own", **LINK, show="1")
    said = prose_of(app)
    assert "12 is lower by 0.1" in said and "That held: 12 was better" in said
    assert (folder / RESULTS).is_file()
    assert f"python -m llmviz study run {folder.name}/{FILE}" in [one.value for one in app.code]


def test_a_run_that_went_wrong_is_said_and_left_out(home):
    folder = home / STUDIES / STUDY.key
    going.own_study_folder.write_study(folder, STUDY)
    for name in STUDY.runs():
        write_run(folder / name, 20, 2.5)
    wrong = folder / own_study.run_name(2, 1) / "wrong.json"
    wrong.write_text(json.dumps({"step": 9, "line": "the loss is <b>NaN</b> at step 9"}), "utf-8")
    app = fine_part("discoveries", "own", **LINK, show="1")
    said = prose_of(app)
    assert "One run went wrong" in said and "12 with seed 1" in said
    assert "<b>NaN</b>" not in said
    assert "share fewer than two seeds" in said


def test_a_damaged_folder_is_named(home):
    folder = home / STUDIES / STUDY.key / own_study.run_name(0, 0)
    write_run(folder, 20, 2.5)
    (folder / "config.json").write_text("{}", "utf-8")
    app = fine_part("discoveries", "own", **LINK)
    assert "config.json is not a" in boxes(app)
    assert str(home) not in boxes(app)


def made(rows, measure="validation", prediction="1", setting="n_embd") -> Outcome:
    """An outcome with these numbers: a row for each value, a column for each seed."""
    base = own_study.base_plan("gpt", "stories", 20)
    values = own_study.SETTINGS[setting].start
    study = own_study.Study(
        setting, values, measure, len(rows[0]), prediction, "I *think* so.", base
    )
    results = [
        Result(
            place,
            seed,
            "done",
            20,
            "",
            dict.fromkeys(NUMBERS, None) | {measure: number},
        )
        for seed in range(len(rows[0]))
        for place, number in enumerate(row[seed] for row in rows)
    ]
    return Outcome(study, results)


NUMBER = st.one_of(st.none(), st.integers(-3, 3).map(float), st.floats(0.5, 3, width=16))


@example([[None, None], [1.0, 1.0], [1.0, 1.0]], "validation", "1")  # nothing differs
@given(
    st.integers(1, 4).flatmap(
        lambda seeds: st.lists(
            st.lists(NUMBER, min_size=seeds, max_size=seeds), min_size=3, max_size=3
        )
    ),
    st.sampled_from(list(own_study.MEASURES)),
    st.sampled_from(own_study.PREDICTIONS),
)
def test_every_outcome_has_words_that_its_numbers_allow(rows, measure, prediction):
    found = made(rows, measure, prediction)
    lines = [
        *chapter.missing_lines(found),
        *(chapter.verdict_line(found, pair) for pair in found.pairs),
        chapter.expected_line(found.study),
        chapter.outcome_line(found),
        chapter.end_line(found),
    ]
    assert not [line for line in lines if "{" in line or "nan" in line]
    for pair in found.pairs:
        line = chapter.verdict_line(found, pair)
        both = [
            (a, b)
            for a, b in zip(rows[pair.first], rows[pair.second], strict=True)
            if a is not None and b is not None
        ]
        assert ("nothing can be said" in line) == (len(both) < 2)
        if len(both) > 1:
            assert ("the same at every seed" in line) == all(a == b for a, b in both)
        if "by more than seeds explain" in line:
            differences = [b - a for a, b in both]
            assert len({math.copysign(1, d) for d in differences if d}) >= 1
            higher = sum(differences) > 0
            assert ("is higher by" in line) == higher
    question = chapter.spread_question(found)
    if question is not None:
        several = [k for row in rows if len(k := [n for n in row if n is not None]) > 1]
        means = [sum(k) / len(k) for k in several]
        right = max(max(k) - min(k) for k in several)
        values = [value for (value,) in question.values]
        assert values[question.right] == pytest.approx(right)
        assert values[0] == 0 and values[1] == pytest.approx(max(means) - min(means))
        gaps = [abs(a - b) for a in values for b in values if a is not b and a != b]
        assert min(gaps) >= chapter.APART_OF * max(values) * 0.999


def test_one_seed_says_nothing_of_luck_and_asks_nothing():
    found = made([[1.0], [2.0], [3.0]])
    assert chapter.spread_question(found) is None
    assert chapter.outcome_line(found) == words.outcome["few"].format()
    assert "nothing can be said about luck" in words.interval["one"].format()
    figure = chapter.chart(found, "light")
    assert not any(trace.error_y.array for trace in figure.data)


def test_numbers_that_no_seed_changes_are_compared_without_an_interval():
    found = made([[10.0, 10.0], [20.0, 20.0], [20.0, 20.0]], "parameters", "same")
    first, _, last = (chapter.verdict_line(found, pair) for pair in found.pairs)
    assert "differ by the same amount at every seed" in first and "to the last bit" in last
    assert chapter.spread_question(found) is None
    assert "some values differ" in chapter.outcome_line(found)


def test_no_values_at_all_leave_a_sentence(home):
    study = dataclasses.replace(read_study(BUNDLED / FILE), measure="reach", target=0.1)
    folder = home / STUDIES / study.key
    going.own_study_folder.write_study(folder, study)
    for name in study.runs():
        write_run(folder / name, study.base.train.steps, 2.0, study.base.train.steps)
    app = fine_part("discoveries", "own", studymeasure="reach", studytarget="0.1", show="1")
    assert "9 of 9 runs have no such number: they did not reach this loss" in prose_of(app)
    assert "there is nothing to compare" in prose_of(app)


@pytest.mark.parametrize("model", next(p for p in PARAMS if p.key == "studymodel").options)
def test_every_model_has_a_cost(model):
    study = dataclasses.replace(
        STUDY,
        setting="learning_rate",
        values=(0.1, 0.2, 0.3),
        base=own_study.base_plan(model, "names", 20),
    )
    counted = going._counted(study.plan(0.1, 0))
    assert counted.parameters > 0 and counted.held_out > 0
