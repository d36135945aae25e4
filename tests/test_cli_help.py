"""What the command line says of itself, in which characters, and where a prompt comes from."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

import llmviz
from llmviz.cli import Parser, main, parser, program
from llmviz.cli.options import table
from llmviz.parallel.__main__ import main as parallel
from llmviz.sampling.kinds import STEPS
from tests.test_cli import ROOT, call, refused

CODE_PAGES = ("cp1252", "cp437", "cp1251", "ascii")
ODD = "Zoë → ☃ 🙂 α"


def commands(one: argparse.ArgumentParser, before: tuple[str, ...] = ()) -> Iterator[tuple]:
    """The words that lead to each command and to each part of one."""
    yield before
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, part in action.choices.items():
                yield from commands(part, (*before, name))


def called(monkeypatch, encoding: str | None, *arguments: str, program=main) -> tuple[int, bytes]:
    """Exit code and the bytes of standard output, where the system's encoding is another."""
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding or "cp1252"))
    if encoding:
        monkeypatch.setenv("PYTHONIOENCODING", encoding)
    else:
        monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    try:
        code = program(list(arguments))
    except SystemExit as stop:
        code = stop.code
    sys.stdout.flush()
    return code, raw.getvalue()


@pytest.mark.parametrize("page", CODE_PAGES)
def test_every_help_is_written_under_every_code_page(monkeypatch, page):
    leading = list(commands(parser()))
    assert len(leading) > 12
    for words in leading:
        code, written = called(monkeypatch, page, *words, "--help")
        assert code == 0 and written.decode(page).startswith("usage:"), words
    code, written = called(monkeypatch, page, "--help", program=parallel)
    assert code == 0 and written


@pytest.mark.parametrize("page", CODE_PAGES)
@pytest.mark.parametrize(
    "command",
    [
        ("models",),
        ("corpus", "list"),
        ("corpus", "show", "pairs"),
        ("checkpoints", "list"),
        ("tokenize", "--tokenizer", "char", ODD),
    ],
    ids=" ".join,
)
def test_every_list_is_written_under_every_code_page(monkeypatch, page, command):
    code, written = called(monkeypatch, page, *command)
    assert code == 0 and written.decode(page).count("\n") > 3


@pytest.fixture(scope="module")
def odd_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd.txt"
    path.write_text(f"{ODD}\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("page", CODE_PAGES)
def test_json_loses_nothing_under_a_code_page(monkeypatch, page, odd_file):
    code, written = called(monkeypatch, page, "corpus", "show", odd_file, "--json")
    assert code == 0 and ODD in json.loads(written.decode(page))["first"][0]
    code, written = called(monkeypatch, page, "corpus", "show", odd_file)
    assert code == 0 and "?" in written.decode(page) and "Zo" in written.decode(page)


def test_a_file_or_pipe_gets_utf_8_under_any_code_page(monkeypatch, odd_file):
    for more in ((), ("--json",)):
        code, written = called(monkeypatch, None, "corpus", "show", odd_file, *more)
        assert code == 0 and ODD in written.decode("utf-8")


@pytest.mark.parametrize("page", ["cp1252", "cp437", "cp1251"])
def test_a_real_process_writes_its_list_and_its_refusal_under_a_code_page(page):
    for arguments, code in ((("corpus", "list"), 0), (("corpus", "show", ODD), 2)):
        done = subprocess.run(
            (sys.executable, "-m", "llmviz", *arguments),
            env={**os.environ, "PYTHONIOENCODING": page, "PYTHONUTF8": "0"},
            capture_output=True,
        )
        assert done.returncode == code, done.stderr
        assert len((done.stderr if code else done.stdout).decode(page).splitlines()) >= 1
        assert b"Traceback" not in done.stderr and b"codec" not in done.stderr


PARSERS = {" ".join(words): words for words in commands(parser())}


def parser_of(words: tuple[str, ...]) -> Parser:
    """The parser of a command, or of a part of one."""
    found = parser()
    for word in words:
        (parts,) = (a for a in found._actions if isinstance(a, argparse._SubParsersAction))
        found = parts.choices[word]
    return found


def test_every_command_begins_its_help_with_examples_that_are_right(capsys):
    for words in PARSERS.values():
        if len(words) > 1:
            continue
        _, out, _ = call(capsys, *words, "--help")
        assert out.startswith("usage: python -m llmviz"), words
        assert out.splitlines()[2] == "examples:", words
        examples = parser_of(words).examples
        assert len(examples) > 1
        for line in examples:
            assert f"  python -m llmviz {line}\n" in out
            parts = shlex.split(line)
            assert parts[0] in (words or parts)
            parser().parse_args(parts)  # ends the program where it is wrong


@pytest.mark.parametrize("columns", ["1", "20", "40", "200"])
def test_help_fits_any_width_and_has_no_colour(capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    for words in PARSERS.values():
        code, out, err = call(capsys, *words, "--help")
        assert code == 0 and err == "" and "\x1b" not in out
        for option in parser_of(words)._option_string_actions:
            assert option in out


@pytest.mark.parametrize("words", PARSERS.values(), ids=PARSERS)
def test_an_unknown_option_points_to_the_help_of_its_own_command(capsys, words):
    needed = {
        "train": ["--out=x"],
        "finetune": ["--out=x"],
        "quantize": ["names-gpt"],
        "generate": ["--checkpoint=x"],
        "classify": ["--checkpoint=x"],
        "eval": ["--checkpoint=x"],
        "serve": ["--checkpoint=x"],
        "import": ["x", "--out=y"],
        "export": ["x", "--out=y"],
        "corpus show": ["x"],
        "corpus get": ["x"],
        "checkpoints make": ["x"],
        "checkpoints score": ["x"],
        "study run": ["x"],
        "worksheet": ["x", "y"],
        "site": ["x"],
        "language export": ["es", "--out=x"],
        "language import": ["x"],
        "language accept": ["es"],
    }
    parts = parser_of(words)
    if any(isinstance(action, argparse._SubParsersAction) for action in parts._actions):
        return  # a part of it is asked for first
    line = refused(capsys, *words, *needed.get(" ".join(words), []), "--jsn=3")
    own = " ".join((program(), *words))
    assert line.startswith(f"{own}: unrecognized arguments: --jsn=3")
    assert line.endswith(f"(see {own} --help)")
    if "--json" in parts._option_string_actions:
        assert "nearest are --json" in line


@pytest.mark.parametrize("command", sorted({words[0] for words in PARSERS.values() if words}))
def test_a_mistyped_command_is_told_its_nearest_one(capsys, command):
    line = refused(capsys, f"{command[1:]}{command[0]}")
    assert command in line.partition("nearest are ")[2].partition(" (")[0].split(", ")


def test_a_choice_that_is_none_is_told_all_of_a_few(capsys):
    assert "'ggu'; choose from hf, peft, gguf (" in refused(capsys, "export", "--to", "ggu")


def test_the_version_and_the_name_are_those_of_the_program(capsys, monkeypatch):
    assert call(capsys, "--version") == (0, f"llmviz {llmviz.__version__}\n", "")
    for called in ("/usr/bin/llmviz", "C:/Scripts/llmviz.exe"):
        monkeypatch.setattr(sys, "argv", [called])
        assert call(capsys, "models", "--help")[1].startswith("usage: llmviz models")
        assert refused(capsys, "models", "more").startswith("llmviz models: ")
    assert re.search(rf"^## {re.escape(llmviz.__version__)}\b", changes(), re.M)


def changes() -> str:
    return (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("tiny-world-gtp", "tiny-world-gpt"),
        ("NAMES-LSTM", "names-lstm"),
        ("rotary", "since-2017/rotary"),
    ],
)
def test_a_model_that_is_not_there_shows_the_nearest_three(capsys, wrong, right):
    line = refused(capsys, "generate", "--checkpoint", wrong)
    near = line.partition("nearest are ")[2].partition(" (")[0].split(", ")
    assert len(near) == 3 and near[0] == right


def test_a_run_is_found_by_its_name_and_is_among_the_nearest(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("LLMVIZ_RUNS", str(tmp_path))
    llmviz.load("names-bigram").save(tmp_path / "about-cats")
    given = ["generate", "--tokens", "3", "--checkpoint"]
    expected = call(capsys, *given, "names-bigram")
    assert call(capsys, *given, "run:about-cats") == expected and expected[0] == 0
    assert "nearest are run:about-cats, " in refused(capsys, *given, "about-cat")


def test_every_step_of_sampling_is_an_option_of_generate(capsys):
    known = parser_of(("generate",))._option_string_actions
    assert {f"--{kind.name.replace('_', '-')}" for kind in STEPS} <= known.keys()
    line = ["generate", "--checkpoint", "names-gpt", "--prompt", "an", "--tokens", "20"]
    plain = call(capsys, *line)[1]
    for option in (
        ["--min-p=0.9"],
        ["--top-p=0.1"],
        ["--top-k=1"],
        ["--temperature=0.01"],
        ["--repetition-penalty=9"],
        ["--banned", *map(str, range(1, 14))],
    ):
        assert call(capsys, *line, *option)[1] != plain, option
        assert refused(capsys, *line, option[0].partition("=")[0] + "=-1")
    order = "banned,repetition_penalty,top_k,top_p,min_p,temperature"
    hot = [*line, "--temperature=3", "--top-p=0.9"]
    assert call(capsys, *hot, "--order", order)[1] != call(capsys, *hot)[1]
    assert "order must name each of" in refused(capsys, *line, "--order", "top_k")
    for value in ("nan", "2"):
        assert "--min-p" in refused(capsys, *line, f"--min-p={value}")
    assert "--repetition-penalty must be" in refused(capsys, *line, "--repetition-penalty=0")


def test_a_prompt_comes_from_a_file_or_standard_input(capsys, monkeypatch, tmp_path):
    file = tmp_path / "begin.txt"
    file.write_bytes(b"\xef\xbb\xbfann\r\n")
    line = ["generate", "--checkpoint", "names-gpt", "--tokens", "5"]
    expected = call(capsys, *line, "--prompt", "ann")
    assert call(capsys, *line, "--prompt-file", str(file)) == expected

    def piped(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))

    for option in ("--prompt", "--prompt-file"):
        piped(b"ann\n")
        assert call(capsys, *line, option, "-") == expected
    piped(b"\xff\xfe")
    assert "standard input is not UTF-8" in refused(capsys, *line, "--prompt=-")
    assert "not allowed with" in refused(capsys, *line, "--prompt=a", "--prompt-file=b")
    for name in ("", "nowhere.txt", str(tmp_path)):
        assert refused(capsys, *line, f"--prompt-file={name}")
    file.write_bytes(b"a\0b")
    assert "zero byte" in refused(capsys, *line, "--prompt-file", str(file))


@pytest.mark.parametrize(
    "line",
    [
        ("generate", "--checkpoint", "names-gpt", "--prompt=-"),
        ("eval", "--checkpoint", "names-gpt", "--corpus=-"),
        ("tokenize", "--tokenizer", "char", "-"),
        ("classify", "--checkpoint", "nowhere", "-"),
    ],
    ids=lambda line: line[0],
)
def test_a_closed_standard_input_is_refused_in_one_line(capsys, monkeypatch, line):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in refused(capsys, *line)


def test_samples_of_a_prompt_are_told_apart_in_json(capsys):
    line = ["generate", "--checkpoint", "names-gpt", "--tokens", "4", "--json", "--samples", "3"]
    _, out, _ = call(capsys, *line)
    assert {'{"sample": 0', '{"sample": 1', '{"sample": 2'} == {
        row[:12] for row in out.splitlines()
    }
    for count in ("0", "-1", "x", "1001"):
        assert "--samples: must be" in refused(capsys, *line, f"--samples={count}")


class Terminal(io.StringIO):
    """A terminal of the width that `COLUMNS` says."""

    def isatty(self) -> bool:
        return True


def test_a_table_fits_a_narrow_terminal_and_is_whole_in_a_pipe(monkeypatch):
    rows = [("name", "what it is"), ("a", "one two three four five six seven"), ("bcd", "")]
    assert table(rows).splitlines() == [
        "name  what it is",
        "a     one two three four five six seven",
        "bcd",
    ]
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("COLUMNS", "24")
    lines = table(rows).splitlines()
    assert max(map(len, lines)) <= 24 and len(lines) > 3
    assert " ".join(line[6:] for line in lines[1:-1]) == rows[1][1]
    monkeypatch.setenv("COLUMNS", "9")  # too narrow to cut: the terminal does
    assert len(table(rows).splitlines()) == 3
