"""`train` with a file of settings, the curve for other programs, and what it says before step 1."""

import csv

import pytest

from llmviz.cli import train as command
from llmviz.cli.train import NOT_SETTINGS
from llmviz.training import read_metrics
from llmviz.training.files import read_json
from llmviz.training.settings_file import SETTINGS
from tests.test_cli import FAST, SMALL, call, refused, text  # noqa: F401 - a fixture


@pytest.fixture
def line(text, tmp_path):  # noqa: F811 - the fixture
    out = tmp_path / "run"
    return ["train", "--corpus", str(text), "--out", str(out), "--steps", "4", *FAST, *SMALL], out


def numbers(folder):
    return [(one.step, one.train_loss, one.validation_loss) for one in read_metrics(folder)]


def test_a_run_writes_settings_that_train_it_again_bit_for_bit(capsys, line, tmp_path):
    given, out = line
    more = ["--set", "dropout=0.1", "--set", "mlp_act=relu", "--seed", "3", "--lr", "3e-3"]
    assert call(capsys, *given, *more[:2], *more[4:])[0] == 0
    again = tmp_path / "again"
    assert call(capsys, "train", "--config", str(out / SETTINGS), "--out", str(again))[0] == 0
    assert numbers(again) == numbers(out)
    plans = [read_json(folder / "config.json")["plan"] for folder in (out, again)]
    assert plans[0] == plans[1]
    assert (again / SETTINGS).read_text("utf-8") == (out / SETTINGS).read_text("utf-8")
    # Every setting of the file is one that the command has, and what is typed wins.
    other = tmp_path / "other"
    typed = ["--steps", "3", "--lr", "5e-3", "--n-embd", "16", "--set", "dropout=0"]
    code = call(capsys, "train", "--config", str(out / SETTINGS), "--out", str(other), *typed)[0]
    plan = read_json(other / "config.json")["plan"]
    assert code == 0 and plan["train"]["steps"] == 3 and plan["model_options"]["n_embd"] == 16
    assert plan["model_options"]["dropout"] == 0 and plan["train"]["seed"] == 3
    assert plan["train"]["min_lr"] == pytest.approx(5e-4)  # it follows the rate that was typed


def test_settings_may_be_few_and_named_either_way(capsys, line, tmp_path):
    given, out = line
    path = tmp_path / "few.toml"
    path.write_text('batch_size = 2\nn-head = 2\n[set]\npositions = "rotary"\n', encoding="utf-8")
    short = [one for one in given if one not in ("--n-head", "--batch-size")]
    short = [one for i, one in enumerate(given) if one not in ("--n-head", "--batch-size")
             and given[i - 1] not in ("--n-head", "--batch-size")]  # fmt: skip
    assert call(capsys, *short, "--config", str(path))[0] == 0
    plan = read_json(out / "config.json")["plan"]
    assert plan["train"]["batch_size"] == 2
    assert plan["model_options"]["n_head"] == 2 and plan["model_options"]["positions"] == "rotary"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("stpes = 4", "'stpes', which does not exist; steps"),
        ("out = 'x'", "'out', which does not exist"),
        ("steps = 'four'", "steps must be a number; got 'four'"),
        ("steps = 1.5", "steps must be a whole number of at least 1; got 1.5"),
        ("steps = true", "steps must be a number; got True"),
        ("corpus = 3", "corpus must be a text; got 3"),
        ("corpus = []", "corpus must not be empty"),
        ("shard = 1", "shard must be true or false"),
        ("set = 3", "set must be a table"),
        ("log = ['xml']", "log must be one of csv, tensorboard"),
        ("steps = ", "cannot be read as TOML"),
        ("a = " + "[" * 3000, "cannot be read as TOML"),
        ("steps = 1" + "0" * 5000, ""),
        ("\x00", "zero byte"),
        ("documents = 3\nmethod = 'lora'", "which does not exist"),  # of another command
    ],
)
def test_a_wrong_file_of_settings_is_one_line(capsys, line, tmp_path, content, words):
    path = tmp_path / "wrong.toml"
    path.write_text(content, encoding="utf-8")
    given, out = line
    bare = ["train", "--out", str(out), "--config", str(path)]
    assert words in refused(capsys, *bare) and not out.exists()
    assert "No such file" in refused(capsys, *given, "--config", str(tmp_path / "none.toml"))


def test_the_curve_for_other_programs_has_the_runs_own_numbers(capsys, line):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    given, out = line
    assert call(capsys, *given, "--log", "csv", "--eval-every", "2")[0] == 0
    more = ["--resume", "--steps", "6", "--log", "csv", "--log", "tensorboard"]
    assert call(capsys, "train", "--out", str(out), *more)[0] == 0
    records = read_metrics(out)
    with (out / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == [one.step for one in records] == [1, 2, 3, 4, 5, 6]
    for row, one in zip(rows, records, strict=True):
        assert float(row["train_loss"]) == one.train_loss and float(row["lr"]) == one.lr
        expected = "" if one.validation_loss is None else str(one.validation_loss)
        assert row["validation_loss"] == expected
    read = events.EventAccumulator(str(out / "tensorboard"))
    read.Reload()
    scalars = {one.step: one.value for one in read.Scalars("train_loss")}
    assert scalars == {one.step: pytest.approx(one.train_loss) for one in records}
    measured = {one.step for one in records if one.validation_loss is not None}
    assert {one.step for one in read.Scalars("validation_loss")} == measured


def test_what_is_to_come_is_said_before_the_first_step(capsys, line, monkeypatch):
    given, out = line
    code, _, err = call(capsys, *given)
    about = read_json(out / "config.json")
    lines = {one.split()[0]: one for one in err.splitlines() if one[:1].isalpha()}
    assert code == 0 and f"gpt, {about['parameters']:,} parameters" in lines["model"]
    assert "cpu, float32, 1 thread" in lines["device"] and "4 of 4 rows" in lines["steps"]
    assert "tokens a second" in lines["expected"] and "held out" in lines["text"]
    before = numbers(out)
    # What is timed for it changes nothing of the run.
    monkeypatch.setattr("llmviz.cli.train_header.fastest_step", lambda *given: None)
    other = out.parent / "other"
    changed = [str(other) if one == str(out) else one for one in given]
    assert "expected" not in call(capsys, *changed)[2] and numbers(other) == before


def test_every_option_of_training_is_a_setting():
    import argparse

    from llmviz.cli import Parser

    root = Parser(prog="p")
    command.add(root.add_subparsers(parser_class=Parser))
    actions = next(a for a in root._actions if isinstance(a, argparse._SubParsersAction))
    options = {
        word[2:] for a in actions.choices["train"]._actions for word in a.option_strings
        if word.startswith("--") and a.dest not in NOT_SETTINGS
    }  # fmt: skip
    from llmviz.training.plan import Plan
    from llmviz.training.settings_file import settings_of_plan

    written = settings_of_plan(Plan(base="x", lora=3, characters=10_000, vocab_size=3))
    assert set(written) <= options | {"set"}
