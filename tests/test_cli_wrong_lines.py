"""Wrong command lines by the hundred: exit code 2, one line, no traceback, nothing left behind.

Lines come from a seeded generator: a right line of some command, of which one part is made wrong.
`LLMVIZ_WRONG_LINES=2000 pytest tests/test_cli_wrong_lines.py` searches further than every test run.
"""

import dataclasses
import os
import random
import shutil

import pytest

from llmviz.models import MODELS
from tests.test_cli import FAST, call

SEEDS = int(os.environ.get("LLMVIZ_WRONG_LINES", "200"))

NO_WHOLE_NUMBERS = ["-1", "1.5", "ten", "", " ", "9" * 30, "9" * 5000, "1e3", "0x10", "NaN", "½"]
NO_NUMBERS = ["nan", "inf", "-inf", "", "x", "1,5", "1e999", "9" * 5000 + "x", "[1]"]
NO_NAMES = ["", " ", "no such", "x" * 300, "../..", "a\nb", "\udcff", "<b>x</b>", "/dev/null", "☃"]
NO_TEXTS = [name for name in NO_NAMES if name != "../.."]  # a folder, which may hold texts
NO_TARGETS = ["TEXT", "TEXT/below", "TEXT/below/more", "", ".", "/dev/null", "/dev/null/x"]
NO_TARGETS += ["x" * 300, "new/" + "x" * 300, "LOOP", "LOOP/x", "FULL", "/proc/none/x"]
NO_VALUES = ["null", "true", "-1", "0", "1.5", '"x"', "[]", "{}", "NaN", "1e999", "-1e-3", "1e30"]
NO_SETTINGS = ["colour=1", "=1", "colour", "", "vocab_size=3", "n_layer", "x=" + "[" * 50_000]

WHOLE = ["characters", "vocab-size", "context-length", "n-layer", "n-head", "n-embd", "steps"]
WHOLE += ["batch-size", "accumulate", "warmup-steps", "eval-every", "eval-batches", "log-every"]
WHOLE += ["sample-every", "sample-tokens", "checkpoint-every", "snapshot-every", "seed", "threads"]
WHOLE += ["recompute", "lora"]
NUMBERS = ["lr", "min-lr", "weight-decay", "beta1", "beta2", "grad-clip", "exercises"]
NAMES = ["model", "corpus", "tokenizer", "windows", "schedule", "optimizer", "device", "dtype"]
NAMES += ["compile", "from"]

TUNED_WHOLE = ["examples", "test-examples", "rank", "steps", "batch-size", "seed", "threads"]
TUNED_NUMBERS = ["alpha", "mix", "beta", "lr", "min-lr", "weight-decay", "beta1", "grad-clip"]
TUNED_NAMES = ["task", "base", "way"]

TRAIN = ["train", "--corpus", "TEXT", "--steps", "1", "--eval-batches", "1", *FAST]
GENERATE = {"checkpoint": "names-bigram", "prompt": "a", "tokens": "2"}
MAKE = ["checkpoints", "make", "names-bigram", "--to=new/to", "--work=new/work", "--steps=1"]


def options(command, values):
    return [command, *(f"--{name}={value}" for name, value in values.items())]


def train(chance):
    """A line of `train`, one part of which is wrong; small enough to end at once if it is not."""
    line = [*TRAIN]
    kind = chance.choice(["whole", "number", "name", "target", "setting", "value", "resume"])
    if kind == "setting":
        return [*line, "--set", chance.choice(NO_SETTINGS), "--out=new/run"]
    if kind == "value":
        return [*line, *a_wrong_value(chance), "--out=new/run"]
    return [*line, *a_wrong_part(chance, kind, WHOLE, NUMBERS, NAMES)]


def finetune(chance):
    """A line of `finetune`, one part of which is wrong."""
    line = ["finetune", "--examples=8", "--test-examples=8", "--steps=1"]
    kind = chance.choice(["whole", "number", "name", "target", "resume"])
    return [*line, *a_wrong_part(chance, kind, TUNED_WHOLE, TUNED_NUMBERS, TUNED_NAMES)]


def a_wrong_part(chance, kind, whole, numbers, names):
    """A wrong option of a run of that kind, or a wrong folder for it."""
    if kind == "whole":
        wrong = [f"--{chance.choice(whole)}={chance.choice(NO_WHOLE_NUMBERS)}"]
    elif kind == "number":
        wrong = [f"--{chance.choice(numbers)}={chance.choice([*NO_NUMBERS, '-1'])}"]
    elif kind == "name":
        name = chance.choice(names)
        wrong = [f"--{name}={chance.choice(NO_TEXTS if name == 'corpus' else NO_NAMES)}"]
    elif kind == "target":
        return [f"--out={chance.choice(NO_TARGETS)}"]
    else:
        return ["--resume", f"--out={chance.choice(['new/run', *NO_TARGETS])}"]
    return [*wrong, "--out=new/run"]


def a_wrong_value(chance):
    """A model and a value of a type or size that a field of its configuration cannot have."""
    name = chance.choice(sorted(name for name, entry in MODELS.items() if not entry.translates))
    config = MODELS[name].config
    field = chance.choice([one.name for one in dataclasses.fields(config)])
    value = chance.choice(NO_VALUES)
    return ["--model", name, "--set", f"{field}={value}"]


def generate(chance):
    line = {**GENERATE}
    wrong = {
        "checkpoint": [*NO_NAMES, *NO_TARGETS, "hub:", "hub:x", "hub:../x"],
        "prompt": ["\udcff", "a\ud83d"],
        "tokens": NO_WHOLE_NUMBERS,
        "temperature": [*NO_NUMBERS, "-1"],
        "top-k": [*NO_WHOLE_NUMBERS, "0", "1000"],
        "top-p": [*NO_NUMBERS, "-1", "0", "1.1"],
        "min-p": [*NO_NUMBERS, "-1", "1.1"],
        "repetition-penalty": [*NO_NUMBERS, "-1", "0"],
        "banned": [*NO_WHOLE_NUMBERS, "1000"],
        "order": [*NO_NAMES, "top_k,top_k"],
        "samples": [*NO_WHOLE_NUMBERS, "0", "1000000"],
        "prompt-file": [*NO_NAMES[:-2], "FULL", "LOOP", "TEXT/below"],
        "seed": NO_WHOLE_NUMBERS,
        "precision": [*NO_NAMES, "int8", "float32"],
    }
    part = chance.choice(sorted(wrong))
    line[part] = chance.choice(wrong[part])
    if part == "prompt-file":
        del line["prompt"]
    return options("generate", line)


def evaluate(chance):
    line = {"checkpoint": "names-bigram", "corpus": "TEXT"}
    wrong = {
        "checkpoint": [*NO_NAMES, *NO_TARGETS, "masked-words", "hub:"],
        "corpus": [*NO_TEXTS, "FULL/no", "LOOP", "*.none", "bad.jsonl", "pairs"],
        "column": [""],
        "documents": [*NO_WHOLE_NUMBERS, "0"],
        "stride": [*NO_WHOLE_NUMBERS, "0", "100000"],
    }
    part = chance.choice(sorted(wrong))
    line[part] = chance.choice(wrong[part])
    return options("eval", line)


def classify(chance):
    name = chance.choice([*NO_NAMES, *NO_TARGETS, "names-gpt"])
    text = chance.choice([["x"], [], ["\udcff"], ["--file=FULL"], ["x", "--file=TEXT"]])
    return ["classify", f"--checkpoint={name}", *text]


def tokenize(chance):
    name, text = chance.choice(
        [(one, "x") for one in [*NO_NAMES, *NO_TARGETS, "bad.json"]] + [("bpe", "\udcff")]
    )
    return ["tokenize", f"--tokenizer={name}", text]


def corpus(chance):
    part = chance.choice(["show", "get", "list", "none"])
    if part == "list":
        return ["corpus", "list", chance.choice(["more", "--documents=1", "--nonsense"])]
    if part == "show" and chance.random() < 0.5:
        return ["corpus", "show", "story", f"--documents={chance.choice(NO_WHOLE_NUMBERS)}"]
    return ["corpus", part, chance.choice([*NO_TEXTS, "LOOP"])]


def imports(chance):
    if chance.random() < 0.5:
        source = chance.choice([*NO_NAMES, *NO_TARGETS])
        return ["import", f"--out={chance.choice(['new/run', 'run'])}", "--", source]
    return ["import", "FULL", f"--out={chance.choice(NO_TARGETS)}"]


def checkpoints(chance):
    make = [*MAKE]
    kind = chance.choice(["name", "to", "work", "steps", "threads", "part", "vectors"])
    if kind == "name":
        make[2] = chance.choice([name for name in NO_NAMES if not name.startswith("-")])
    elif kind == "part":
        return ["checkpoints", chance.choice(NO_NAMES)]
    elif kind == "vectors":
        wrong = chance.choice(["--steps=1", f"--to={chance.choice(NO_TARGETS[:3])}"])
        return ["checkpoints", "make", "tiny-world-word2vec", wrong]
    elif kind in ("to", "work"):
        place = chance.choice([one for one in NO_TARGETS if one not in (".", "FULL", "/dev/null")])
        make.append(f"--{kind}={place}")
    else:
        make.append(f"--{kind}={chance.choice(NO_WHOLE_NUMBERS)}")
    return make


def others(chance):
    return chance.choice(
        [
            [],
            [""],
            ["nonsense"],
            ["models", "more"],
            ["models", "--nonsense"],
            ["train"],
            ["train", "--out"],
            ["generate"],
            ["tokenize", "x"],
            ["tokenize", "--tokenizer", "bpe"],
            ["corpus"],
            ["checkpoints"],
            ["checkpoints", "make"],
            ["import", "x"],
        ]
    )


COMMANDS = [
    train,
    finetune,
    generate,
    evaluate,
    classify,
    tokenize,
    corpus,
    imports,
    checkpoints,
    others,
]


def wrong_line(seed):
    """The wrong command line of a seed; TEXT, FULL and LOOP stand for what lies in the folder."""
    chance = random.Random(seed)
    return chance.choice(COMMANDS)(chance)


def contents(folder):
    """All that lies in a folder, with times and sizes."""
    about = {path: path.lstat() for path in folder.rglob("*")}
    return {path: (one.st_size, one.st_mtime_ns) for path, one in about.items()}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A working folder with a text, a folder that holds something, a damaged file, a link loop."""
    (tmp_path / "TEXT").write_text("The cat sat on the mat.\n" * 60, encoding="utf-8")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{', encoding="utf-8")
    (tmp_path / "FULL").mkdir()
    (tmp_path / "FULL" / "letter.txt").write_text("dear", encoding="utf-8")
    (tmp_path / "LOOP").symlink_to("LOOP")
    monkeypatch.chdir(tmp_path)
    # nothing is looked for outside this machine
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return tmp_path


def test_the_lines_are_right_before_a_part_is_made_wrong(capsys, place):
    for line in ([*TRAIN, "--out=new/run"], options("generate", GENERATE), [*MAKE, "--threads=1"]):
        assert call(capsys, *line)[0] == 0
        shutil.rmtree(place / "new", ignore_errors=True)
    assert call(capsys, *TRAIN, "--out=new/run", "--set", "n_layer=1")[0] == 0


def test_wrong_lines_are_refused_in_one_line_and_leave_nothing(capsys, place):
    before, problems, refused = contents(place), [], 0
    for seed in range(SEEDS):
        line = wrong_line(seed)
        shown = [part if len(part) < 60 else f"{part[:50]}… ({len(part)})" for part in line]
        try:
            code, out, err = call(capsys, *line)
        except Exception as error:  # the search goes on; the test fails at its end
            problems.append(f"{seed} {shown}: {type(error).__name__}: {str(error)[:200]}")
            continue
        refused += code == 2
        if code == 0 and line[0] == "train" and "--set" in line:
            shutil.rmtree(place / "new")  # of all models and values some go together
        elif code != 2 or len(err.strip("\n").split("\n")) != 1 or out:
            problems.append(f"{seed} {shown}: {code}, {out[:80]!r}, {err[:300]!r}")
        elif contents(place) != before:
            left = {str(path) for path in contents(place).items() ^ before.items()}
            problems.append(f"{seed} {shown}: left {sorted(left)[:3]}")
        before = contents(place)
    assert not problems, f"{len(problems)} of {SEEDS}:\n" + "\n".join(problems)
    assert refused > 0.9 * SEEDS
