"""A GPT-2 in its published format, imported as a run, in the lessons that offer it."""

from __future__ import annotations

import html
import json

import pytest
import torch

from llmviz.course.components import unpack
from llmviz.course.lessons.attention.heads import words
from llmviz.models import GPT, GPTConfig
from llmviz.pretrained import import_gpt2
from llmviz.tokenizers import BPETokenizer, TokenizerUnavailable
from tests.pages.harness import fine, messages, open_part, prose_of, run_snippet, snippets

NAME = "run:gpt2"


@pytest.fixture(scope="module", params=["GPT-2's tokens", "its own tokens"])
def imported(request, tmp_path_factory):
    """A small random one with more heads than can be tried one by one.

    With tokens of its own it has, as many published models do, more ids than tokens.
    """
    folder, runs = (tmp_path_factory.mktemp(name) for name in ("theirs", "runs"))
    torch.manual_seed(0)
    shape = dict(n_layer=9, n_head=8, n_embd=16, context_length=128, activation="gelu_tanh")
    vocab_size = 50257
    if request.param == "its own tokens":
        vocab_size = 320
        own = BPETokenizer.train("The cat sat on the mat. " * 9, 280, ["</s>"])
        own.to_huggingface(folder / "tokenizer.json")
    GPT(GPTConfig(vocab_size=vocab_size, **shape)).to_gpt2(folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["eos_token_id"] = vocab_size - 1 if vocab_size == 50257 else own.vocab_size - 1
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    patch = pytest.MonkeyPatch()
    patch.setenv("LLMVIZ_RUNS", str(runs))
    try:
        yield import_gpt2(folder, runs / "gpt2")
    except TokenizerUnavailable as problem:
        pytest.skip(str(problem))
    finally:
        patch.undo()


def open_with_it(page: str, part: str, **link: str):
    app = open_part(page, part, model=NAME, **link)
    fine(app)
    assert not [line for line in messages(app) if "does not exist" in line]
    assert NAME in [box.value for box in (*app.selectbox, *app.get("button_group"))]
    return app


@pytest.mark.parametrize(
    ("page", "part"),
    [
        ("sampling", "pipeline"),
        ("sampling", "writing"),
        ("sampling", "knows"),
        ("embeddings", "lookup"),
        ("transformer", "context"),
    ],
)
def test_lessons_take_it(imported, page, part):
    open_with_it(page, part)


def test_the_lesson_on_attention_takes_it_and_its_code_gives_the_numbers_of_the_page(imported):
    open_with_it("attention", "steps", source="model")
    text = "The cat sat on the mat"
    app = open_with_it("attention", "trained", source="model", text=text)
    snippet, prints = next(one for one in snippets(app) if NAME in one[0])
    assert run_snippet(snippet).strip() == prints.strip()


def test_many_heads_are_not_switched_off_one_by_one(imported):
    app = open_with_it("attention", "heads", source="model")
    said = html.unescape(prose_of(app)) + " ".join(one.value for one in app.caption)
    assert words.off_many.format(heads=72) in said
    parts = [part.proto for part in app.get("bidi_component")]
    layouts = [unpack(part.bytes).get("layout") or [] for part in parts]
    drawn = [row for layout in layouts for row in layout if "weights0" in row or "weights7" in row]
    assert [len(row) for row in drawn] == [4, 4]  # more would go past the edge


def test_it_has_no_curve_and_cannot_go_on(imported):
    app = open_part("training", "curves", runs=NAME)
    fine(app)
