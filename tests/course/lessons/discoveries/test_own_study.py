"""A study of the learner's: what it refuses, its folder, its numbers against scipy and by hand."""

from __future__ import annotations

import dataclasses
import itertools
import math
import zipfile
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from llmviz.course.lessons.discoveries.own import PARAMS, own_study, seed_spread
from llmviz.course.lessons.discoveries.own import own_study_folder as folders
from llmviz.course.lessons.discoveries.own.chapter import draft_of
from llmviz.course.lessons.discoveries.own.own_study_run import run_study
from llmviz.course.lessons.discoveries.own.seed_spread import SAME as EQUAL

NUMBERS = st.integers(-50_000, 50_000).map(lambda number: number / 10_000)


def study(setting="n_embd", values=(4, 8, 12), measure="validation", **more) -> own_study.Study:
    given = {"seeds": 2, "prediction": "3", "hypothesis": "Wider is better.", **more}
    base = given.pop("base", own_study.base_plan("gpt", "names", 20))
    return own_study.Study(setting, values, measure, base=base, **given)


# ---- what a study refuses


@pytest.mark.parametrize(
    ("setting", "written", "line"),
    [
        ("n_embd", "16", "needs 3 values"),
        ("n_embd", "", "got 0"),
        ("n_embd", "16, 32, 64, 96", "got 4"),
        ("n_embd", "16, 16, 32", "got 16 twice"),
        ("n_embd", "16, wide, 32", "must be a whole number; got 'wide'"),
        ("n_embd", "16, 1.5, 32", "must be a whole number"),
        ("n_embd", "16, 32, 4096", "from 4 to 96; got 4096"),
        ("dropout", "0, 0.1, nan", "from 0 to 0.8; got nan"),
        ("dropout", "0, 0.1, inf", "from 0 to 0.8"),
        ("learning_rate", "0.1, -1, 1", "from 1e-05 to 10; got -1"),
        ("schedule", "cosine, linear, square", "must be one of cosine, linear, constant"),
        ("schedule", "cosine, cosine, linear", "got cosine twice"),
    ],
)
def test_values_that_cannot_be_are_named(setting, written, line):
    with pytest.raises(ValueError, match=line.replace("(", r"\(")):
        own_study.read_values(setting, written)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"seeds": 0}, "seeds must be a whole number from 1 to 5; got 0"),
        ({"seeds": 6}, "from 1 to 5"),
        ({"seeds": True}, "seeds must be a whole number"),
        ({"prediction": "4"}, "prediction must be one of"),
        ({"hypothesis": "  "}, "write what you expect"),
        ({"hypothesis": "x" * 401}, "at most 400 characters"),
        ({"measure": "beauty"}, "measure must be one of"),
        ({"target": math.nan}, "target must be above 0"),
        ({"measure": "floor"}, "known for the stories only"),
        ({"setting": "characters", "values": (50_000, 60_000, 70_000)}, "for the stories only"),
        ({"setting": "n_head", "values": (1, 2, 5)}, "n_head must divide n_embd"),
        ({"setting": "window", "values": (1, 2, 3)}, "gpt has no setting window; it is one of mlp"),
        (
            {"setting": "label_smoothing", "values": (0.0, 0.1, 0.2), "measure": "gap"},
            "gap cannot be compared",
        ),
    ],
)
def test_a_study_that_cannot_be_says_which_rule_and_which_value(changes, line):
    with pytest.raises(ValueError, match=line):
        dataclasses.replace(study(), **changes)


@pytest.mark.parametrize("steps", [0, 19, 3_001])
def test_steps_out_of_range_are_refused(steps):
    with pytest.raises(ValueError, match="steps must be"):
        study(base=own_study.base_plan("gpt", "names", steps))


@pytest.mark.parametrize("model", own_study.TRAINED)
def test_every_setting_that_a_model_has_reaches_its_plans(model):
    for text, (setting, about) in itertools.product(
        ("stories", "names"), own_study.SETTINGS.items()
    ):
        if not own_study.has_setting(model, setting) or (
            setting == "characters" and text == "names"
        ):
            continue
        made = study(setting, about.start, base=own_study.base_plan(model, text, 40))
        plans = made.runs()
        assert len(plans) == 3 * made.seeds
        found = set()
        for plan in plans.values():
            values = {**plan.to_dict(), **plan.model_options, **plan.train.to_dict()}
            found.add(values[setting])
        assert found == set(about.start)
        # What does not vary is the same for all values of a seed.
        for seed in range(made.seeds):
            alike = [made.plan(value, seed) for value in about.start]
            assert {plan.train.seed for plan in alike} == {seed}


# ---- its folder


def test_a_study_comes_back_from_its_file_as_it_was(tmp_path):
    one = study(prediction=own_study.SAME, hypothesis='Odd "text" \\ ü\nof two lines')
    folders.write_study(tmp_path, one)
    again = folders.read_study(tmp_path / folders.FILE)
    assert again == one and again.key == one.key
    assert folders.expected_texts(tmp_path / folders.FILE) == {}
    assert "study run study.toml" in (tmp_path / "README.md").read_text("utf-8")


def test_every_part_of_a_study_is_in_its_name():
    first = study()
    others = [
        dataclasses.replace(first, values=(4, 8, 16)),
        dataclasses.replace(first, seeds=1),
        dataclasses.replace(first, prediction="1"),
        dataclasses.replace(first, hypothesis="Else."),
        dataclasses.replace(first, base=own_study.base_plan("gpt", "names", 21)),
    ]
    assert len({one.key for one in (first, *others)}) == 6
    assert study().key == first.key


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (("format = 1", "format = 9"), "format must be 1; got 9"),
        (("seeds = 2", ""), "lacks seeds"),
        (("seeds = 2", 'seeds = "two"'), "seeds must be a whole number; got 'two'"),
        (("seeds = 2", "seeds = 0"), "seeds must be a whole number from 1"),
        (("seeds = 2", "seeds = 2\nweight = 3"), "has a key 'weight', which does not exist"),
        (("seeds = 2", "seeds = = 2"), "cannot be read as TOML"),
        (("steps = 20", "steps = 0"), "plan: steps must be"),
        (("batch_size", "batch_sizes"), "plan: TrainConfig has no field 'batch_sizes'"),
        (('setting = "n_embd"', 'setting = "width"'), "setting must be one of"),
    ],
)
def test_a_damaged_file_is_named_with_its_key(tmp_path, change, line):
    folders.write_study(tmp_path, study())
    path = tmp_path / folders.FILE
    text = path.read_text("utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change), "utf-8")
    with pytest.raises(ValueError, match=line) as error:
        folders.read_study(path)
    assert folders.FILE in str(error.value)


def test_there_is_no_study_where_there_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="there is no study"):
        folders.read_study(tmp_path / folders.FILE)


def test_what_differs_between_two_tables_is_found_to_the_last_bit():
    one = study()
    results = []
    for seed, place in itertools.product(range(2), range(3)):
        numbers = dict.fromkeys(folders.NUMBERS, 0.1 + place + seed)
        results.append(folders.Result(place, seed, "done", 20, "", numbers, "abc"))
    table = folders.table_of(one, results)
    assert folders.differing(table, table) == []
    changed = dict(results[2].numbers) | {
        "validation": math.nextafter(results[2].numbers["validation"], 9),
        "pace": 1e9,  # which is measured anew each time
    }
    other = folders.table_of(
        one, [dataclasses.replace(r, numbers=changed) if r is results[2] else r for r in results]
    )
    (found,) = folders.differing(table, other)
    assert found[:3] == ("12", "0", "validation") and found[3] != found[4]
    with pytest.raises(ValueError, match="must have the columns"):
        folders.differing("a,b\n1,2\n", table)
    assert table.splitlines()[0] == ",".join(folders.COLUMNS)


# ---- training


@pytest.mark.slow
def test_a_study_is_trained_interrupted_and_repeated_bit_for_bit(tmp_path):
    one = study(measure="reach", target=3.2, seeds=1)
    first, second = tmp_path / "first", tmp_path / "second"
    total = len(list(run_study(one, first)))
    going = run_study(one, second)
    for _ in range(total // 2):  # in the midst of a run
        next(going)
    going.close()
    assert 0 < len([r for r in folders.results_of(second, one) if r.over]) < 3
    list(run_study(one, second, folders.expected_texts(first / folders.FILE)))
    tables = [(folder / folders.RESULTS).read_text("utf-8") for folder in (first, second)]
    assert folders.differing(*tables) == []
    found = folders.results_of(first, one)
    assert all(r.ended == "done" and r.steps == 20 for r in found)
    for r in found:
        numbers = r.numbers
        assert numbers["gap"] == numbers["validation"] - numbers["train"]
        assert numbers["floor"] is None and numbers["rules"] is None
        assert numbers["reach"] is None or 1 <= numbers["reach"] <= 20
    sizes = [r.numbers["parameters"] for r in found]
    assert sizes == sorted(set(sizes))
    assert set(folders.expected_texts(first / folders.FILE)) == set(one.runs())
    names = zipfile.ZipFile(BytesIO(folders.zipped(first))).namelist()
    assert {f"first/{name}" for name in (folders.FILE, folders.RESULTS, "README.md")} <= set(names)
    assert f"first/{own_study.run_name(0, 0)}/metrics.jsonl" in names
    assert not [name for name in names if "safetensors" in name or "checkpoints" in name]
    with pytest.raises(ValueError, match=r"corpus_sha256\.value-1-seed-0 is another text"):
        list(run_study(one, tmp_path / "third", {"value-1-seed-0": "0" * 64}))


def test_a_run_that_goes_wrong_is_kept_and_the_next_one_trains(tmp_path):
    base = own_study.base_plan("gpt", "names", 40)
    wild = dataclasses.replace(
        base,
        train=dataclasses.replace(
            base.train, optimizer="sgd", grad_clip=0.0, schedule="constant", warmup_steps=0
        ),
    )
    one = study("learning_rate", (10.0, 9.0, 0.01), seeds=1, base=wild)
    list(run_study(one, tmp_path))
    ended = [r.ended for r in folders.results_of(tmp_path, one)]
    assert ended == ["diverged", "diverged", "done"]
    assert folders.results_of(tmp_path, one)[0].line
    before = (tmp_path / own_study.run_name(0, 0) / "metrics.jsonl").read_bytes()
    list(run_study(one, tmp_path))  # nothing is left to do
    assert (tmp_path / own_study.run_name(0, 0) / "metrics.jsonl").read_bytes() == before
    text = (tmp_path / folders.RESULTS).read_text("utf-8")
    assert "diverged" in text and "nan" not in text


def test_the_bundled_study_is_that_of_a_link_without_anything():
    state = {param.key: param.default for param in PARAMS}
    default = dataclasses.replace(
        draft_of(state),
        prediction=state["studyprediction"],
        hypothesis=state["studyhypothesis"],
    )
    assert folders.read_study(folders.BUNDLED / folders.FILE).key == default.key
    found = folders.results_of(folders.BUNDLED, default)
    assert all(one.ended == "done" for one in found)
    assert (folders.BUNDLED / folders.RESULTS).read_text("utf-8") == folders.table_of(
        default, found
    )


# ---- what can be said


@given(st.lists(NUMBERS, min_size=2, max_size=5, unique=True))
def test_an_interval_is_scipys(values):
    found = seed_spread.interval(values)
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    assert found.mean - found.half == pytest.approx(low, abs=1e-9)
    assert found.mean + found.half == pytest.approx(high, abs=1e-9)


def test_one_value_has_no_interval_and_equal_ones_have_one_of_no_width():
    assert seed_spread.interval([3.0]).half is None
    assert seed_spread.interval([0.1, 0.1, 0.1]).half == 0
    with pytest.raises(ValueError, match="at least one"):
        seed_spread.interval([])


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=3, max_size=3))
def test_pairs_are_paired_t_tests_with_three_comparisons(rows):
    measured = [dict(enumerate(row)) for row in rows]
    for pair in seed_spread.pairs(measured):
        a, b = np.array(rows[pair.first]), np.array(rows[pair.second])
        if np.ptp(b - a) < 1e-9:
            continue
        p = stats.ttest_rel(b, a).pvalue
        if abs(p - 0.05 / 3) > 1e-6:
            assert (pair.how == seed_spread.APART) == (p < 0.05 / 3)


def test_pairs_at_the_edges():
    alike = {0: 1.0, 1: 2.0}
    first, _, _ = seed_spread.pairs([alike, dict(alike), {0: 1.5, 1: 2.5}])
    assert first.how == EQUAL and first.difference.mean == 0
    exact = seed_spread.pairs([alike, {0: 1.5, 1: 2.5}, alike])[0]
    assert exact.how == seed_spread.APART and exact.difference.half == 0
    assert {pair.how for pair in seed_spread.pairs([{0: 1.0}, {0: 2.0}, {0: 3.0}])} == {
        seed_spread.FEW
    }
    nothing = seed_spread.pairs([{0: 1.0}, {1: 2.0}, {}])
    assert all(pair.how == seed_spread.FEW and math.isnan(pair.difference.mean) for pair in nothing)
    noisy = seed_spread.pairs([{0: 0.0, 1: 1.0}, {0: 1.0, 1: 0.0}, {0: 0.5, 1: 0.4}])
    assert {pair.how for pair in noisy} == {seed_spread.UNCLEAR}


def test_luck_alone_is_rarely_taken_for_a_difference():
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(2_000):
        measured = [dict(enumerate(row)) for row in rng.normal(size=(3, 4))]
        wrong += any(pair.how == seed_spread.APART for pair in seed_spread.pairs(measured))
    assert wrong / 2_000 < 0.05 + 0.015  # three standard errors


def test_the_best_value_and_ties():
    assert seed_spread.best_place([{0: 1.0}, {0: 2.0}, {}], higher=False) == 0
    assert seed_spread.best_place([{0: 1.0}, {0: 2.0}, {}], higher=True) == 1
    assert seed_spread.best_place([{0: 1.0}, {0: 1.0}], higher=True) is None
    assert seed_spread.best_place([{}, {}], higher=True) is None
    assert seed_spread.spreads([{0: 1.0, 1: 2.0}, {0: 5.0, 1: 5.5}]) == (3.75, 1.0)
    with pytest.raises(ValueError, match="two seeds"):
        seed_spread.spreads([{0: 1.0}, {0: 2.0}, {0: 3.0}])


@pytest.mark.parametrize("prediction", own_study.PREDICTIONS)
def test_a_prediction_is_judged_by_its_pairs(prediction):
    low, middle, high = (
        {s: m + 0.01 * s * k for s in range(4)} for m, k in ((1, 1), (2, 2), (3, 1))
    )
    far = seed_spread.pairs([low, middle, high])
    assert {pair.how for pair in far} == {seed_spread.APART}
    predicted = None if prediction == own_study.SAME else int(prediction) - 1
    expected = {None: "differ", 0: "held", 1: "other", 2: "other"}[predicted]
    assert seed_spread.outcome(far, 0, predicted) == expected
    near = seed_spread.pairs([{0: 0.0, 1: 1.0}, {0: 1.0, 1: 0.0}, {0: 0.5, 1: 0.4}])
    assert seed_spread.outcome(near, 0, predicted) == "open"
    assert (
        seed_spread.outcome(seed_spread.pairs([{0: 1.0}, {0: 2.0}, {0: 3.0}]), 0, predicted)
        == seed_spread.FEW
    )


def test_the_most_seeds_fit_the_control():
    (seeds,) = (param for param in PARAMS if param.key == "studyseeds")
    assert seeds.high == own_study.MOST_SEEDS
