"""The catalogue tells the truth about each model, and is the only one to know them by name."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from torch import nn

from llmviz.models import MODELS, LanguageModel, build, gpt, settings
from llmviz.models.catalogue import DEFAULT, able, entry_of
from llmviz.nn import layers
from llmviz.nn.attention import MultiHeadAttention, multihead, steps
from llmviz.training.config import Plan, TrainConfig

ROOT = Path(__file__).parents[2]
CATALOGUE = ROOT / "llmviz" / "models" / "catalogue.py"


@pytest.mark.parametrize("name", MODELS)
def test_what_a_model_can_do_is_what_its_class_does(name):
    entry, model = MODELS[name], build(name)
    assert type(model) is entry.model
    assert isinstance(model.config, entry.config)
    given = tuple(inspect.signature(model.forward).parameters)[:2]
    reads_ids = entry.next_token or entry.hidden_words
    assert reads_ids == (given == ("idx", "targets"))
    assert entry.hidden_words == hasattr(model, "fill_in")
    assert isinstance(model, LanguageModel) or not entry.next_token
    assert entry.attention == any(isinstance(part, MultiHeadAttention) for part in model.modules())
    assert entry.recomputes == hasattr(model, "recompute_every")
    assert entry.cache == (hasattr(model, "new_cache") and entry.next_token)
    assert entry.translates == hasattr(model, "encoder")
    assert entry.word_vectors == hasattr(model, "vectors")
    table = getattr(model, "word" if entry.word_vectors else "token", None)
    assert entry.token_table == isinstance(table, nn.Embedding)


@pytest.mark.parametrize("name", MODELS)
def test_what_suits_a_model_and_its_sizes_are_settings_that_hold(name):
    entry = MODELS[name]
    Plan(model=name, **entry.suited_plan, train=TrainConfig(**entry.suited_training))
    for size in entry.sizes.values():
        entry.config.from_dict(size)


def test_the_choices_of_settings_are_those_of_the_code():
    assert tuple(layers.ACTIVATIONS) == settings.ACTIVATIONS
    assert tuple(multihead.SCALES) == settings.SCALES
    assert settings.SOFTMAX_BEFORE_MASK == steps.SOFTMAX_BEFORE_MASK
    assert tuple(gpt.MASKS) == settings.MASKS
    assert set(settings.BOTH_SIDES) <= set(settings.MASKS)


def test_an_unknown_model_can_do_nothing_and_is_named():
    assert able(DEFAULT, "next_token")
    assert not able("mamba", "next_token") and not able(None, "next_token")
    with pytest.raises(ValueError, match=f"one of {', '.join(MODELS)}; got 'mamba'"):
        entry_of("mamba")
    with pytest.raises(AttributeError, match="flies"):
        able(DEFAULT, "flies")


def test_catalogue_form_controls_and_command_line_need_no_torch():
    code = (
        "import sys, llmviz.models.catalogue, llmviz.models, llmviz.training.config\n"
        "import llmviz.cli, llmviz.course.lessons.training.runs.form\n"
        "llmviz.cli.parser()\n"
        "from llmviz.course.lessons import LESSONS\n"
        "assert all(lesson.params() or not lesson.chapters for lesson in LESSONS)\n"
        "assert 'torch' not in sys.modules, 'torch was imported'"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr


def names_in(node: ast.AST) -> set[str]:
    """The names of models that an expression has as texts; nothing where it has other texts."""
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    texts = {item.value for item in items if isinstance(item, ast.Constant)}
    return texts if texts and texts <= MODELS.keys() and len(items) >= 1 else set()


def compared(source: str) -> list[str]:
    """The places where a source text compares something with the name of a model."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            # a list of models by name, which is there to be compared with
            sides = [node.value] if isinstance(node.value, ast.Tuple | ast.List | ast.Set) else []
        else:
            continue
        found += [
            f"line {node.lineno}: {sorted(names)}" for side in sides if (names := names_in(side))
        ]
    return found


@pytest.mark.parametrize(
    "source",
    [
        'card["model"] == "gpt"',
        '"gpt" != name',
        'name in ("seq2seq", "word2vec")',
        'TABLES = ("gpt", "word2vec")',
        'match name:\n    case "gpt":\n        pass',
    ],
)
def test_a_comparison_with_a_model_by_name_is_seen(source):
    assert compared(source)


@pytest.mark.parametrize(
    "source", ['part == "loss"', 'build("gpt")', 'KEPT = {"rnn": 1, "gpt": 2}']
)
def test_other_uses_of_a_name_are_left_alone(source):
    assert not compared(source)


def test_nobody_else_compares_with_the_name_of_a_model():
    files = [*(ROOT / "llmviz").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    found = {
        str(path.relative_to(ROOT)): places
        for path in files
        if path != CATALOGUE and (places := compared(path.read_text("utf-8")))
    }
    assert not found
