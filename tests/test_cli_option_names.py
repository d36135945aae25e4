"""A value that a setting refuses is told by the option that was typed, for every option."""

import dataclasses
import re
import shutil

import pytest

from llmviz.cli import parser
from llmviz.cli.options import with_option_names
from llmviz.finetuning.plan import TuningPlan
from llmviz.models import MODELS
from llmviz.training.config import Plan, TrainConfig
from tests.test_cli import FAST, SMALL, call
from tests.test_cli_help import PARSERS, parser_of

LINES = {
    "train": ["--corpus=TEXT", "--steps=1", "--eval-batches=1", "--out=new/run", *FAST, *SMALL],
    "finetune": ["--task=no-such", "--examples=8", "--steps=1", "--out=new/run"],
    "eval": ["--checkpoint=names-bigram", "--corpus=TEXT", "--documents=1"],
    "generate": ["--checkpoint=names-bigram", "--tokens=2", "--prompt=a"],
    "tokenize": ["--tokenizer=bpe", "x"],
    "corpus show": ["story"],
    "corpus get": ["story"],
    "checkpoints make": ["names-bigram", "--to=new/to", "--work=new/work", "--steps=1"],
    "checkpoints score": ["no-such"],
    "export": ["no-such", "--out=new/file"],
    "import": ["nowhere", "--out=new/run"],
    "quantize": ["no-such", "--train=1"],
    "site": ["new/site", "--only=no-such"],
    "serve": ["--checkpoint=no-such"],  # what is not refused before ends there
}
WRONG = ["-1", "0", "1", "1.5", "33", "1e30", "nan", "x" * 300, "no such", "", "char"]
SETTINGS = {"temperature", "top_k", "top_p"} | {
    field.name
    for config in (TrainConfig, Plan, TuningPlan, *{entry.config for entry in MODELS.values()})
    for field in dataclasses.fields(config)
}


def valued():
    """Each option of each command that takes a value and fills a setting."""
    for command, words in PARSERS.items():
        for one in parser_of(words)._actions:
            if one.option_strings and one.nargs != 0 and one.dest in SETTINGS:
                yield command, one.option_strings[-1], one.dest


PARSER = parser()
VALUED = list(valued())


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "TEXT").write_text("The cat sat on the mat.\n" * 60, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    # Making it for each of 1,000 lines takes a third of the time.
    monkeypatch.setattr("llmviz.cli.parser", lambda: PARSER)
    return tmp_path


def line_of(command, option, value):
    """A right line of a command, but for one value."""
    own = [part for part in LINES[command] if not part.startswith(f"{option}=")]
    if option in own:  # as two words
        at = own.index(option)
        own = own[:at] + own[at + 2 :]
    if command == "finetune" and option != "--task":
        own = [part for part in own if not part.startswith("--task")] + ["--base=no-such"]
        if option in ("--base", "--targets"):  # layers are looked for in a real one
            own.remove("--base=no-such")
    return [*command.split(), *own, f"{option}={value}"]


def test_the_options_of_all_commands_are_looked_at():
    assert len(VALUED) > 60
    assert {command for command, _, _ in VALUED} == {
        *("train", "finetune", "generate", "tokenize", "checkpoints make", "checkpoints score"),
        *("quantize", "serve", "eval", "export", "site"),
    }


@pytest.mark.slow  # a thousand lines
@pytest.mark.parametrize("command", sorted({command for command, _, _ in VALUED}))
def test_a_refused_value_is_told_by_its_option(capsys, place, command):
    problems = []
    for own, option, setting in VALUED:
        if own != command:
            continue
        refusals = 0
        for value in WRONG:
            if option == "--threads" and value == "33":
                continue  # right, and so many threads on a few busy cores take minutes
            code, _, err = call(capsys, *line_of(command, option, value))
            shutil.rmtree(place / "new", ignore_errors=True)
            line = err.strip().splitlines()[-1] if code else ""
            # the value was taken: the run went wrong later, or another part of the line is wrong
            if not line or "is not finite" in line or "'no-such'" in line:
                continue
            refusals += 1
            message = re.sub(r"'[^']*'", "", line)
            field = "_" in setting and re.search(rf"(?<![\w-]){setting}\b", message)
            if code != 2 or not re.search(rf"{option}(?![\w-])", line) or field:
                problems.append(f"{option}={value[:20]}: {line[:200]}")
        if not refusals:
            problems.append(f"{option}: nothing was refused")
    assert not problems, "\n".join(problems)


def test_lr_is_lr_and_not_learning_rate(capsys, place):
    for command in ("train", "finetune"):
        code, _, err = call(capsys, command, "--out=new/run", "--lr=-1")
        assert code == 2
        assert err.strip() == f"python -m llmviz {command}: --lr must be a number above 0; got -1.0"


def test_a_setting_given_by_name_is_told_by_name(capsys, place):
    line = ["train", "--corpus=TEXT", "--out=new/run", "--set", "n_head=3", "--n-embd=8"]
    code, _, err = call(capsys, *line)
    assert code == 2
    assert err.strip().endswith("--set n_head must divide --n-embd; got --n-embd=8, --set n_head=3")


@pytest.mark.parametrize(
    ("message", "same"),
    [
        ("there is no corpus 'steps must'", True),  # somebody's words
        ("the steps of a run", True),  # no rule and no value: the plain word
        ("--steps must be at least 1", True),
        ("runs/steps=3/steps.json is damaged", True),
        ("steps must be at least 1; got steps=0", False),
    ],
)
def test_only_names_of_settings_become_options(message, same):
    changed = with_option_names(message, {"steps": "--steps"})
    expected = message if same else message.replace("steps", "--steps")
    assert changed == expected
