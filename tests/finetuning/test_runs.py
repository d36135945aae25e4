"""`finetune` on the command line: each kind of task from its plan to a card, and on with it."""

import json

import pytest
import torch

from llmviz.cli import main
from llmviz.finetuning.adapters import load_adapter
from llmviz.finetuning.plan import TuningPlan
from llmviz.finetuning.recipes import TUNINGS
from llmviz.finetuning.runs import load_tuning, prepare_again
from llmviz.nn.lora import lora_layers
from llmviz.pretrained import load_bundled
from llmviz.training import read_metrics
from tests.test_cli import refused

SMALL = ["--examples", "12", "--test-examples", "6", "--threads", "1", "--batch-size", "4"]
SMALL += ["--eval-every", "2", "--eval-batches", "1", "--rank", "2"]


def call(capsys, *arguments):
    code = main(["finetune", *arguments])
    return code, capsys.readouterr()


@pytest.mark.parametrize(
    ("task", "way", "score"),
    [
        ("about", "head", "accuracy"),
        ("who", "lora", "accuracy"),
        ("instructions", "lora", "right"),
        ("happier", "lora", "preferred"),
        ("rules", "lora", "accuracy_by_examples"),
    ],
)
@pytest.mark.usefixtures("small_tasks")
def test_each_kind_of_task_from_its_plan_to_its_card(capsys, tmp_path, task, way, score):
    out = tmp_path / "run"
    given = ["--task", task, "--way", way, "--out", str(out), *SMALL]
    assert call(capsys, *given, "--steps", "2")[0] == 0
    code, said = call(capsys, *given, "--steps", "3", "--resume")
    assert code == 0 and f"{task}, not trained on: " in said.out
    card = json.loads((out / "card.json").read_text())
    assert score in card and card["steps"] == 3
    assert card["base"]["name"] == "tiny-world-gpt"
    assert [one.step for one in read_metrics(out)] == [1, 2, 3]
    assert (out / "adapter").is_dir() == (way == "lora")
    tuning = load_tuning(out)
    assert tuning.scores()[score] == card[score]
    if way == "lora":  # the adapter is the body's part of the run
        base = load_bundled("tiny-world-gpt")[0]
        load_adapter(base, out / "adapter", "tiny-world-gpt")
        for path, layer in lora_layers(tuning.body).items():
            again = lora_layers(base)[path]
            assert torch.equal(layer.adapters["default"].A, again.adapters["default"].A)
            assert torch.equal(layer.base.weight, again.base.weight)


@pytest.mark.usefixtures("small_tasks")
def test_a_resumed_run_is_the_run_that_never_stopped(capsys, tmp_path):
    given = ["--task", "about", "--way", "head", *SMALL, "--seed", "5"]
    call(capsys, *given, "--out", str(tmp_path / "whole"), "--steps", "4", "--min-lr", "0.01")
    call(capsys, *given, "--out", str(tmp_path / "parts"), "--steps", "2", "--min-lr", "0.01")
    call(capsys, "--out", str(tmp_path / "parts"), "--resume", "--steps", "4")
    heads = [load_tuning(tmp_path / name).model.head.linear.weight for name in ("whole", "parts")]
    assert torch.equal(*heads)


def test_a_table_of_the_learners_own(capsys, tmp_path):
    table = tmp_path / "own.csv"
    rows = [f'"a nice, <i>good</i> day {n}",good\nan awful day {n},bad\n' for n in range(10)]
    table.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    out = tmp_path / "run"
    given = ["--task", str(table), "--way", "head", "--out", str(out), *SMALL, "--steps", "60"]
    assert call(capsys, *given)[0] == 0
    assert json.loads((out / "card.json").read_text())["accuracy"] == 1
    table.write_text("text,label\n" + "".join(reversed(rows)), encoding="utf-8")
    with pytest.raises(ValueError, match="are not those that"):
        prepare_again(out)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--task", "nonsense"], "task must be one of ending, mood"),
        (["--task", "none.csv"], "none.csv cannot be read"),
        (["--task", "who", "--way", "most"], "way must be one of head, last"),
        (["--task", "rules", "--way", "head"], "way must be one of lora, all for rules"),
        (["--task", "who", "--rank", "0"], "must be a whole number of at least 1"),
        (["--task", "who", "--rank", "400"], "rank must be at most 192"),
        (["--task", "who", "--alpha", "0"], "alpha must be a number above 0"),
        (["--task", "who", "--base", "nowhere"], "there is no run or checkpoint 'nowhere'"),
        (["--task", "who", "--base", "names-rnn"], "base must be a gpt, such as names-gpt, "),
        (["--task", "who", "--base", "names-rnn"], "names-rnn is a rnn"),
        (["--base", "masked-words"], "masked-words is a bert"),
        (["--task", "instructions", "--mix", "1"], "mix must be at least 0 and below 1"),
        (["--task", "happier", "--beta", "0"], "beta must be a number above 0"),
        (["--task", "who", "--targets", "x"], "targets must be ends of layers' paths"),
        (["--task", "who", "--examples", "1"], "examples must be a whole number of at least 2"),
        (["--task", "who", "--resume"], "there is no folder"),
    ],
)
def test_wrong_lines_are_refused_in_one_line_and_leave_nothing(capsys, tmp_path, given, message):
    out = tmp_path / "run"
    assert message in refused(capsys, "finetune", "--out", str(out), *given)
    assert not out.exists()


def test_what_cannot_change_in_a_run(capsys, tmp_path):
    out = tmp_path / "run"
    call(capsys, "--task", "about", "--way", "head", "--out", str(out), *SMALL, "--steps", "2")
    for given, message in (
        (["--task", "who"], "task cannot change"),
        (["--rank", "3"], "rank cannot change in a run that is resumed; it is 2, got 3"),
        (["--steps", "1"], "steps must be at least the 2 done"),
    ):
        code, said = call(capsys, "--out", str(out), "--resume", *given)
        assert code == 2 and message in said.err
    code, said = call(capsys, "--task", "about", "--out", str(out))
    assert code == 2 and "already holds a run" in said.err


def test_plans_come_back_from_their_values():
    for recipe in TUNINGS.values():
        again = json.loads(json.dumps(recipe.plan.to_dict()))
        assert TuningPlan.from_dict(again) == recipe.plan
    with pytest.raises(ValueError, match="no field 'colour'"):
        TuningPlan.from_dict({"colour": 1})
