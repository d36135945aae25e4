"""The recipes of docs/ADDING.md, followed: what they name is enough, and each takes effect."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from llmviz.cli import main
from llmviz.config import Config
from llmviz.corpus import CORPORA, load_corpus
from llmviz.corpus.corpora import _bundled
from llmviz.course.components.matrix_view.view import Matrix
from llmviz.course.figures import theme
from llmviz.course.lessons.training.runs.form import model_label
from llmviz.course.lessons.training.runs.plan_controls import TOKENIZER_CHOICES, options_of
from llmviz.models import MODELS, build
from llmviz.models.base import LanguageModel
from llmviz.models.catalogue import ModelEntry, able
from llmviz.pretrained import load_trained
from llmviz.sampling import STEPS, StepKind, sampling_steps, usual_order
from llmviz.tokenizers import (
    ENDOFTEXT,
    TOKENIZERS,
    TRAINERS,
    UNKNOWN,
    train_tokenizer,
)
from llmviz.tokenizers.base import KINDS
from llmviz.tokenizers.vocabulary import VocabularyTokenizer
from llmviz.training.config import TrainConfig
from llmviz.training.estimate import vocabulary
from llmviz.training.plan import Plan
from llmviz.training.recipes import RECIPES, Recipe
from tests.sources import ROOT

pytestmark = pytest.mark.slow  # of the second tier

ADDING = (ROOT / "docs" / "ADDING.md").read_text("utf-8")


def test_every_place_that_a_recipe_names_is_there():
    places = set(re.findall(r"`((?:llmviz|pages|data|docs|tests)/[\w/.]*|README\.md)`", ADDING))
    fixed = {p for p in places if not re.search(r"LESSON|CHAPTER|NAME", p)}
    assert len(fixed) > 8
    for place in fixed:
        assert (ROOT / place).exists(), place


# ---- a chapter, a lesson: in a copy of the project


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the program, with what is compiled of it; the data are those of the project."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("llmviz", "pages"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns(".*"))
    for name in ("app.py", ".streamlit"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
    (folder / "data").symlink_to(ROOT / "data", target_is_directory=True)
    return folder


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add_line(path: Path, before: str, line: str) -> None:
    """Add one line to a file, in front of the first occurrence of a text."""
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, line + before, 1), encoding="utf-8")


def add_chapter(folder: Path) -> None:
    """Write a chapter's folder, with a control of its own."""
    write(
        folder / "__init__.py",
        '"""A chapter that a test adds."""\n\nfrom llmviz.course.document import beside\n'
        "from llmviz.course.ui import codec\n\nwords = beside(__file__)\n\n"
        'PARAMS = [codec.integer("added", 3, 0, 9)]\n',
    )
    write(
        folder / "chapter.md",
        "---\ntitle: Added\nminutes: 5\n---\n\n# What is added here?\n\n"
        "## A chapter that was added {#intro}\n\nIt has {count} slider.\n",
    )
    write(
        folder / "chapter.py",
        "from importlib import import_module\n\nimport streamlit as st\n\n"
        "from llmviz.course.ui.lesson import section\n\n"
        "words = import_module(__package__).words\n\n\n"
        "def draw(state):\n"
        '    section(words.intro, count=1)\n    st.slider("Added", **state.ranged("added"))\n',
    )


def opened(copy: Path, page: str, **link: str) -> str:
    """Open a page of the copy in a process of its own; return its headers, sliders and errors."""
    program = (
        "import json\nfrom streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=120).run()\n"
        f"for key, value in {link!r}.items():\n    app.query_params[key] = value\n"
        f"app.switch_page('pages/{page}.py').run()\n"
        "print([h.value for h in app.header], [s.value for s in app.slider], "
        "[str(e.value) for e in app.exception], [t.value for t in app.title])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_chapter_is_a_folder_and_a_line(copy):
    lesson = copy / "llmviz" / "course" / "lessons" / "tokenization"
    add_chapter(lesson / "added")
    add_line(lesson / "__init__.py", '"learn"', '"added", ')
    page = opened(copy, "tokenization", part="added", added="7")
    assert "['A chapter that was added'] [7] []" in page


def test_a_lesson_is_a_folder_a_page_and_its_place_in_the_list(copy):
    lessons = copy / "llmviz" / "course" / "lessons"
    add_chapter(lessons / "fresh" / "first")
    write(
        lessons / "fresh" / "__init__.py",
        '"""A lesson that a test adds."""\n\n'
        "from llmviz.course.document import beside\nfrom llmviz.course.ui.lesson import Lesson\n\n"
        'words = beside(__file__, "lesson")\n\n'
        'LESSON = Lesson("fresh", ":material/star:", words, ("first",))\n',
    )
    write(
        lessons / "fresh" / "lesson.md",
        "---\ntitle: Fresh\n---\n\ncard\n:   A card.\n\nheadline\n:   A fresh lesson\n\n"
        "promise\n:   You see a slider.\n\nneeds\n:   Nothing.\n",
    )
    write(
        copy / "pages" / "fresh.py",
        '"""Fresh."""\n\nfrom llmviz.course.lessons.fresh import LESSON\n'
        "from llmviz.course.ui.lesson import show\n\nshow(LESSON)\n",
    )
    listing = lessons / "__init__.py"
    add_line(
        listing,
        "from llmviz.course.lessons.glossary",
        "from llmviz.course.lessons.fresh import LESSON as F\n",
    )
    listing.write_text(listing.read_text("utf-8").replace("    HOME,\n", "    HOME,\n    F,\n", 1))
    page = opened(copy, "fresh", added="2")
    assert "['A chapter that was added'] [2] [] ['What is added here?']" in page


# ---- the tests themselves: a step, a model and a tokenizer more, in the copy

STEP = """
STEPS.append(
    StepKind("newcomer", lambda logits, on: logits, 0, int, "newcomer", "No change.", "new", 0, 1)
)
"""
MODEL = """
MODELS["newcomer"] = ModelEntry(
    "llmviz.models.bigram:Bigram", BigramConfig, "a bigram by another name", token_table=False
)
"""
TOKENIZER = """
TRAINERS["newcomer"] = CharTokenizer.train
"""

# Of a test with one case for each of a list, only the new one is run: the others are run elsewhere.
ONLY_NEW = """

def pytest_collection_modifyitems(items):
    by_case = {item.function for item in items if "newcomer" in item.name}
    items[:] = [
        item for item in items if "newcomer" in item.name or item.function not in by_case
    ]
    assert by_case
"""


def test_the_tests_of_steps_models_and_tokenizers_take_one_more_of_each(copy):
    """None of them holds a list of its own that a recipe would have to name."""
    added = {"sampling/kinds.py": STEP, "models/catalogue.py": MODEL}
    added["tokenizers/registry.py"] = TOKENIZER
    for name, more in added.items():
        file = copy / "llmviz" / name
        file.write_text(file.read_text("utf-8") + more, encoding="utf-8")
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    (copy / "conftest.py").write_text(ONLY_NEW, encoding="utf-8")
    asked = ["tests/sampling/test_pipeline.py", "tests/models/test_contract.py"]
    asked += ["tests/models/test_catalogue.py", "tests/pages/test_sampling_order.py"]
    asked += ["tests/pages/test_sampling.py", "tests/pages/test_sampling_seventh.py"]
    asked += ["tests/tokenizers/test_vocabulary.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *asked],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert (
        "newcomer"
        in subprocess.run(
            [sys.executable, "-m", "llmviz", "models"], cwd=copy, capture_output=True, text=True
        ).stdout
    )


# ---- a model


@dataclass(frozen=True)
class UnigramConfig(Config):
    """Settings of the model that the test adds."""

    vocab_size: int = 27
    context_length: int = 16

    def __post_init__(self) -> None:
        self.require_positive("vocab_size", "context_length")


class Unigram(LanguageModel):
    """The same logits at every place."""

    def __init__(self, config: UnigramConfig):
        super().__init__(config)
        self.logits = nn.Parameter(torch.zeros(config.vocab_size))
        self.finish()

    def forward(self, idx, targets=None):
        """Logits (B, T, V) and the loss."""
        self.check_ids(idx)
        logits = self.logits.expand(*idx.shape, -1)
        return logits, self.loss(logits, targets)


ENTRY = ModelEntry(f"{__name__}:Unigram", UnigramConfig, "token counts alone", token_table=False)


def test_a_model_is_its_settings_its_class_and_an_entry(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(MODELS, "unigram", ENTRY)
    assert able("unigram", "next_token") and not able("unigram", "attention")
    assert isinstance(build("unigram", {"vocab_size": 5}), Unigram)
    assert main(["models"]) == 0 and "unigram" in capsys.readouterr().out
    assert model_label("unigram") == "unigram: token counts alone"  # in the form for a run
    assert options_of("unigram") == ()
    text = tmp_path / "text.txt"
    text.write_text("aaab " * 400, encoding="utf-8")
    out = tmp_path / "run"
    given = ["train", "--model", "unigram", "--corpus", str(text), "--tokenizer", "char"]
    given += ["--steps", "60", "--lr", "0.1", "--out", str(out), "--device", "cpu"]
    given += ["--threads", "1", "--context-length", "8"]
    assert main(given) == 0
    trained = load_trained(out)
    shares = trained.model.logits.softmax(-1)
    assert int(shares.argmax()) == trained.tokenizer.encode("a")[0]
    assert main(["generate", "--checkpoint", str(out), "--prompt", "a", "--tokens", "3"]) == 0


# ---- a tokenizer


@pytest.fixture
def pair_tokenizer(monkeypatch):
    """A tokenizer that cuts a text into pairs of characters, entered as the recipe says."""

    class PairTokenizer(VocabularyTokenizer):
        kind = "added"
        special_texts = (ENDOFTEXT, UNKNOWN)

        @staticmethod
        def split(text):
            return [text[i : i + 2] for i in range(0, len(text), 2)]

        def decode(self, ids):
            return "".join(self._texts[i] for i in self.check_ids(ids))

        def _spans_ordinary(self, text):
            start = 0
            for token_id, part in zip(self.encode(text), self.split(text), strict=True):
                end = start + len(part.encode("utf-8"))
                yield token_id, start, end
                start = end

    monkeypatch.setitem(TRAINERS, "added", PairTokenizer.train)
    yield PairTokenizer
    del KINDS["added"]


def test_a_tokenizer_is_a_class_and_an_entry(pair_tokenizer, tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on a mat. " * 200, encoding="utf-8")
    out = tmp_path / "run"
    given = ["train", "--model", "bigram", "--corpus", str(text), "--tokenizer", "added"]
    given += ["--steps", "3", "--out", str(out), "--device", "cpu", "--threads", "1"]
    plan = Plan(model="bigram", corpus=str(text), tokenizer="added")
    foreseen = vocabulary(plan, ["the cat sat on a mat. " * 180])
    assert main([*given, "--context-length", "8"]) == 0
    tokenizer = load_trained(out).tokenizer
    assert isinstance(tokenizer, pair_tokenizer) and tokenizer.vocab_size == foreseen
    assert tokenizer.decode(tokenizer.encode("the cat")) == "the cat"[:6] + UNKNOWN
    assert main(["generate", "--checkpoint", str(out), "--prompt", "the ", "--tokens", "3"]) == 0
    capsys.readouterr()
    saved = str(out / "tokenizer.json")
    assert main(["tokenize", "--tokenizer", saved, "--json", "cat sat "]) == 0
    assert json.loads(capsys.readouterr().out)["tokens"] == ["ca", "t ", "sa", "t "]
    with pytest.raises(ValueError, match=f"one of {', '.join(TRAINERS)}; got 'none'"):
        train_tokenizer("none", "text")


def test_the_form_for_training_offers_every_tokenizer():
    assert set(TOKENIZER_CHOICES) == {*TRAINERS, *TOKENIZERS}


# ---- a step of sampling


def test_a_step_of_sampling_is_a_function_and_an_entry():
    def keep_even(logits, on):
        return np.where(np.arange(len(logits)) % 2 == 0, logits, -np.inf) if on else logits

    kind = StepKind(
        "even",
        keep_even,
        neutral=0,
        check=int,
        title="even",
        hint="Odd ids are cut.",
        control="even",
        low=0,
        high=1,
        stops=(0, 1),
    )
    before = usual_order()
    STEPS.append(kind)
    try:
        assert list(usual_order()) == [*before, "even"]
        assert sampling_steps(np.zeros(4), even=1)["even"].cut.tolist() == [False, True] * 2
        assert not sampling_steps(np.zeros(4))["even"].active
    finally:
        STEPS.remove(kind)


@pytest.mark.parametrize(("neutral", "high"), [(None, 1), (math.inf, math.inf), (2, 1)])
def test_a_step_whose_slider_cannot_hold_its_setting_is_refused_at_once(neutral, high):
    with pytest.raises(ValueError, match="newcomer"):
        StepKind("newcomer", lambda logits, on: logits, neutral, int, "", "", "new", 0, high)


# ---- a colour


def test_a_colour_is_three_entries_for_each_theme(monkeypatch):
    for mode in ("light", "dark"):
        monkeypatch.setitem(theme.ROLES[mode], "added", "#123456")
        monkeypatch.setitem(theme.ROLE_TEXT[mode], "added", "#234567")
        monkeypatch.setitem(theme.POLES[mode], "added", ("#345678", "#456789"))
    rules = theme.css_variables()
    for name in ("added:#123456", "added-text:#234567", "added-neg:#345678", "added-pos:#456789"):
        assert rules.count(f"--lv-{name};") == 2, name
    assert theme.role_color("added", "dark") == "#123456"
    assert Matrix("m", np.eye(2), role="added").role == "added"


def test_every_role_has_its_text_and_its_poles_in_both_themes():
    for mode in ("light", "dark"):
        assert set(theme.ROLES[mode]) | {"neutral"} == set(theme.POLES[mode])
        assert set(theme.ROLES[mode]) | {"neutral"} == set(theme.ROLE_TEXT[mode])


# ---- a corpus, a bundled checkpoint


def test_a_corpus_is_a_file_and_an_entry(monkeypatch, tmp_path, capsys):
    file = tmp_path / "added.txt"
    file.write_text("one\ntwo\n", encoding="utf-8")
    entry = _bundled("added", "a test's corpus", str(file), "\n")
    monkeypatch.setitem(CORPORA, "added", entry)
    assert load_corpus("added").documents == ["one", "two"]
    assert main(["corpus", "list"]) == 0
    assert "a test's corpus" in capsys.readouterr().out


def test_a_bundled_checkpoint_is_a_recipe_and_what_its_command_writes(
    monkeypatch, tmp_path, capsys
):
    plan = Plan(model="bigram", corpus="names", tokenizer="char", context_length=8)
    plan = dataclasses.replace(plan, train=TrainConfig(steps=3, batch_size=4, eval_batches=1))
    monkeypatch.setitem(RECIPES, "added", Recipe("a test's bigram", plan))
    make = ["checkpoints", "make", "added", "--steps", "3", "--threads", "1"]
    make += ["--to", str(tmp_path / "to"), "--work", str(tmp_path / "work")]
    assert main(make) == 0
    written = {path.name for path in (tmp_path / "to" / "added").iterdir()}
    assert {"card.json", "config.json", "model.safetensors", "tokenizer.json"} <= written
    assert main(["checkpoints", "list"]) == 0
    assert "a test's bigram" in capsys.readouterr().out
