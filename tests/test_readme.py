"""README's commands, and those of the pages behind it, are really run; the file tree is true."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from llmviz.obtainable.catalogue import OBTAINABLE
from llmviz.publishing.gguf_file import export_gguf
from tests.published_models import make_gpt2, make_llama
from tests.publishing.test_folder import MODERN, gpt, trained
from tests.publishing.test_gguf_file import PLAIN
from tests.sources import ROOT
from tests.test_cli import call

FIRST = (ROOT / "README.md").read_text("utf-8")
PAGES = ("INSTALL", "LESSONS", "TRAINING", "PYTHON", "PUBLISHED", "CLASS", "FIGURES")
# README and the pages behind it, as one who reads on reads them.
README = "\n".join([FIRST, *((ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in PAGES)])


def commands(language: str) -> list[str]:
    """Return the lines of all code blocks of one language."""
    return [
        line
        for block in re.findall(rf"```{language}\n(.*?)```", README, re.S)
        for line in block.strip().splitlines()
    ]


def test_readme_is_read_in_two_minutes_and_leads_to_every_page():
    assert len(FIRST.split()) <= 1200
    for name in PAGES:
        assert f"(docs/{name}.md)" in FIRST, name
    picture = re.search(r"!\[[^\]]+\]\(([^)]+)\)", FIRST)
    assert picture and (ROOT / picture[1]).stat().st_size <= 2_000_000


@pytest.mark.parametrize("name", ["README.es.md", "README.zh.md"])
def test_another_language_gives_the_same_commands_and_leads_to_files(name):
    other = (ROOT / name).read_text("utf-8")
    blocks = re.findall(r"```\w+\n.*?```", other, re.S)
    assert len(blocks) >= 4 and all(block in FIRST for block in blocks)
    assert f"({name})" in FIRST
    for link in re.findall(r"\]\(([^)#]+)\)", other):
        assert (ROOT / link).is_file(), link


@pytest.mark.parametrize("file", ["README.es.md", "README.zh.md"])
def test_a_whole_translation_has_every_part(file):
    """So a part that is added in English is missing here, and this is red."""

    def parts(text):
        links = set(re.findall(r"\]\(((?!README)[^)#]+)\)", text))
        rows = len(re.findall(r"^\|", text, re.M))
        return text.count("\n## "), rows, links, re.findall(r"```\w+\n.*?```", text, re.S)

    assert parts((ROOT / file).read_text("utf-8")) == parts(FIRST)


def test_no_address_in_readme_is_a_placeholder():
    for address in re.findall(r"https?://[^\s)>`]+", FIRST):
        assert not re.search(r"[A-Z]{3,}|example|your-", address.split("//")[1].split("/")[0]), (
            address
        )


def test_ci_calls_the_readmes_test_command():
    tests = [line for line in commands("sh") if line.endswith("-m pytest")]
    assert len(tests) == 1
    assert tests[0] in (ROOT / ".ci" / "run").read_text("utf-8").splitlines()


def test_all_commands_after_the_first_are_the_same_on_windows():
    below = README.split("## The commands of the other pages")[1]
    activating, *rest = re.findall(r"```sh\n(.*?)```", below, re.S)
    assert activating == ". .venv/bin/activate\n" and "\n.venv\\Scripts\\activate\n" in below
    lines = [line for block in rest for line in block.strip().splitlines()]
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    lines += [
        line
        for block in re.findall(r"```sh\n(.*?)```", contributing, re.S)
        for line in block.strip().splitlines()
    ]
    assert len(lines) > 20
    programs = {"python", "torchrun", "streamlit", "docker", "ruff", "npx", "mypy"}
    for line in lines:
        assert line.split()[0] in programs, line
        assert not re.search(r"[$`#\\]", line), f"a Command Prompt reads it otherwise: {line}"


def test_both_commands_have_a_windows_form():
    windows = commands("bat")
    assert any("streamlit run app.py" in line for line in windows)
    assert any(line.endswith("-m pytest") for line in windows)


def test_an_install_without_nvidias_libraries_stands_beside_the_default():
    starts = [line for line in commands("sh") if line.endswith("streamlit run app.py")]
    default, small = starts
    assert "uv" not in default and "--torch-backend cpu -r requirements.txt" in small


def test_what_the_commands_install_is_there_and_pinned():
    for line in [*commands("sh"), *commands("bat")]:
        for name in re.findall(r"-r (\S+)", line):
            for requirement in (ROOT / name).read_text("utf-8").splitlines():
                bare = requirement.split("#")[0].strip()
                assert not bare or bare.startswith("-r ") or re.fullmatch(r"\S+==\S+", bare)


def test_the_tree_names_what_is_there_and_nothing_else():
    text = (ROOT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    tree = text.split("```\napp.py", 1)[1].split("```", 1)[0]
    listed, folder = set(), ""
    for line in ("app.py" + tree).splitlines():
        name = line.split()[0] if line.strip() else ""
        if not name:
            continue
        folder = "llmviz/" if line.startswith("  ") else ""
        listed.add(folder + name.rstrip("/"))
    for name in listed:
        assert (ROOT / name).exists(), name
    parts = {
        f"llmviz/{path.name}"
        for path in (ROOT / "llmviz").iterdir()
        if not path.name.startswith(("_", "."))
    }
    assert parts <= listed, sorted(parts - listed)


DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/ADDING.md")
DOCUMENTS += tuple(f"docs/{name}.md" for name in PAGES)
PLACES = (
    "",
    "llmviz",
    "tests",
    "benchmarks",
    "data",
    "data/checkpoints",
)  # names may leave out which of these they lie in
KINDS = "py|md|toml|txt|js|css|json|jsonc"
PATH = re.compile(rf"`(\.?[\w.-]+(?:/[\w.*-]*)+|[\w-]+\.(?:{KINDS}))`")
PLACEHOLDER = re.compile(r"[A-Z]{3,}(?!\.md)")  # LESSON, NAME, OUT
# In the folder of a run, of an adapter, of a published model.
WRITTEN = {
    "metrics.jsonl",
    "wrong.json",
    "model.safetensors",
    "card.json",
    "config.json",
    "tokenizer.json",
}
WRITTEN |= {"merges.txt", "vocab.json", "run.toml", "adapter/", "checkpoints/", "best/", "runs/"}
WRITTEN |= {"metrics.csv", "hour/"}


def named(document: str) -> set[str]:
    """Return the files and folders that a document names as being there."""
    found = set(PATH.findall((ROOT / document).read_text("utf-8")))
    return {path for path in found if not PLACEHOLDER.search(path) and path not in WRITTEN}


def is_there(path: str) -> bool:
    """Whether there is such a file or folder; a bare name may lie in any folder."""
    if "/" not in path and any(any((ROOT / place).rglob(path)) for place in PLACES[1:]):
        return True
    return any(any((ROOT / place).glob(path.rstrip("/"))) for place in PLACES)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_is_there(document):
    paths = named(document)
    assert len(paths) > 4 or document not in DOCUMENTS[1:4]
    assert {path for path in paths if not is_there(path)} == set()


def test_the_table_of_tests_names_every_folder_of_them():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]+`) \|.*\| [\d.]+ \|$", text, re.M)
    listed = {name for row in rows for name in re.findall(r"`([\w.*]+)`", row)}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert listed == {*folders, "test_*.py"}


@pytest.mark.slow
def test_the_lines_of_python_run_in_a_folder_that_is_not_the_projects(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len(blocks) > 2
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
    assert "train_loss" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"my-copy", "my-run"}


# What makes a line short; the words of the line itself stay.
SHORT = {
    "train": "--steps 2 --eval-batches 1 --batch-size 2 --context-length 16 --device cpu",
    "generate": "--tokens 4",
    "finetune": "--examples 12 --test-examples 6 --batch-size 4 --steps 2 --eval-batches 1",
    "quantize": "--documents 0",
    "checkpoints": "--probes 2",
    "tokenize": "--help",  # it fetches vocabularies
    "app": "--help",  # it serves until it is stopped
    "serve": "--help",
    "site": "--help",  # it takes minutes, and has tests of its own
}


@pytest.mark.slow  # a process for each command
def test_the_commands_run_in_a_folder_that_is_not_the_projects(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("llmviz.training.export.SCORED", 4)
    monkeypatch.setattr("llmviz.finetuning.preparation.TEST_QUESTIONS", 2)
    monkeypatch.setattr("llmviz.finetuning.preparation.PLAIN_STORIES", 2)
    Path("my-text.txt").write_text("Once there was a cat that sat on a mat.\n" * 60, "utf-8")
    Path("stories.txt").write_text("The owl baked bread.\nAda had a ball.\n", "utf-8")
    labels = "".join(f"{animal} ran,{animal}\n" for animal in ["cat", "dog"] * 12)
    Path("my-labels.csv").write_text(f"text,label\n{labels}", "utf-8")
    make_gpt2(Path("gpt2"))
    make_llama(Path("runs/smol"), attention_bias=False)
    real = OBTAINABLE["smollm2"]  # a small file stands for the one that is fetched
    export_gguf(trained(gpt(**MODERN, **PLAIN)), Path(real.file))
    data = Path(real.file).read_bytes()
    small = replace(real, sha256=hashlib.sha256(data).hexdigest(), size=len(data))
    monkeypatch.setitem(OBTAINABLE, "smollm2", small)
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path / "models"))
    tuned = "train --from tiny-world-gpt --corpus my-text.txt --lora 8 --out runs/tuned"
    ran = [line for line in commands("sh") if line.startswith("python -m llmviz ")]
    assert len(ran) > 15
    for line in [f"python -m llmviz {tuned}", *ran]:
        line = line.replace("hub:openai-community/gpt2", "gpt2")  # without the network
        line = line.replace("get smollm2", f"get smollm2 --offline {real.file}")
        words = shlex.split(line)[3:]
        code, _, err = call(capsys, *words, *shlex.split(SHORT.get(words[0], "")))
        assert code == 0, (line, err)
    assert {"mine", "slower", "gpt2", "about", "mine-too", "answers", "small"} <= {
        path.name for path in Path("runs").iterdir()
    }


MISTAKES = ("no-shift", "no-mask", "mask-off-by-one", "two-softmaxes")  # their losses mean nothing


def test_minutes_and_losses_of_the_bundled_models_are_those_of_their_cards():
    rows = [line.split("|")[1:-1] for line in README.splitlines() if re.match(r"\| `[\w-]", line)]
    found = set()
    for command, *columns in rows:
        minutes, text = columns if len(columns) == 2 else ("", "")
        names = re.findall(r"[\w-]+(?:/[\w-]+)*", command.replace("since-2017/NAME", ""))
        folders = (
            ROOT / "data" / part / name for name in names for part in ("checkpoints", "tuned")
        )
        cards = {
            card["name"]: card
            for folder in folders
            if (folder / "card.json").exists()
            for card in [json.loads((folder / "card.json").read_text("utf-8"))]
        }
        said = re.findall(r"\d+(?:\.\d+)?", minutes)
        if len(said) == len(cards):
            for value, card in zip(said, cards.values(), strict=True):
                half = 0.5 / 10 ** len(value.partition(".")[2])
                assert abs(card["seconds"] / 60 - float(value)) <= half * 1.01, card["name"]
                found.add(card["name"])
        for name, card in cards.items():
            score = card.get("score", {})
            if "nats_per_token" in score and not name.endswith(MISTAKES) and "/" not in name:
                per = "nats_per_character" if name.endswith("-char") else "nats_per_token"
                assert f"{score[per]:.3f}" in text, name
    assert {"names-wavenet", "tiny-world-char", "few-shot", "pairs-rnn"} <= found
    for path in sorted((ROOT / "data" / "checkpoints" / "since-2017").glob("*/card.json")):
        score = json.loads(path.read_text("utf-8"))["score"]
        assert f"`{path.parent.name}` {score['nats_per_token']:.3f}" in README
