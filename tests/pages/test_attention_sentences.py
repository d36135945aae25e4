"""Computed sentences of the lesson on attention hold for every model that can be chosen."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from llmviz.course.lessons.attention.heads import chapter as heads
from llmviz.course.lessons.attention.inputs import model_on_text as real
from llmviz.course.lessons.attention.inputs import opening
from llmviz.course.lessons.attention.masks import chapter as masks_chapter
from llmviz.course.lessons.attention.masks import words
from llmviz.course.lessons.attention.matrices.build import square_captions
from llmviz.course.lessons.attention.params import TEXT
from llmviz.course.lessons.attention.steps import chapter as steps
from llmviz.course.lessons.attention.steps import drawn_variant
from llmviz.course.lessons.attention.trained import chapter as trained
from llmviz.course.lessons.attention.trained.model import look
from llmviz.course.lessons.transformer.block.drawing import Drawing
from llmviz.course.ui import engine, model_on_text
from llmviz.course.ui.matrix_picture import scale_of
from llmviz.interpretability import heads_on_text
from llmviz.interpretability.block import all_blocks
from llmviz.models import GPT, GPTConfig
from llmviz.nn.attention import attention, causal_mask
from llmviz.nn.attention.steps import SOFTMAX_BEFORE_MASK
from llmviz.nn.attention.study import HeadSummary
from llmviz.tokenizers import BPETokenizer, get_tokenizer

SIZES = {"vocab_size": 400, "context_length": 32, "n_layer": 2, "n_head": 4, "n_embd": 32}
IDS = (0, *range(65, 75))


def bundled_of(**settings) -> engine.Bundled:
    """A model that has learned nothing, as if it were bundled."""
    torch.manual_seed(0)
    model = GPT(GPTConfig(**SIZES | {"vocab_size": get_tokenizer("bpe").vocab_size} | settings))
    for part in model.parameters():
        if part.dim() == 2:
            torch.nn.init.normal_(part, std=0.3)
    name = "test " + " ".join(f"{key}={value}" for key, value in settings.items())
    card = {"model": "gpt", "corpus": "tiny-world"}
    return engine.Bundled(name, model.eval().requires_grad_(False), get_tokenizer("bpe"), card, "")


MODELS = {
    "usual": {},
    "window": {"window": 3},
    "turning": {"positions": "rotary", "rotary_base": 500.0},
    "stretched": {"positions": "rotary", "rotary_scaling": (4.0,)},
    "no scale": {"attention_scale": "none"},
    "wide scale": {"attention_scale": "model"},
    "one head": {"n_head": 1},
    "no mask": {"mask": "none"},
    "off by one": {"mask": "off_by_one"},
    "norms behind": {"norm": "post"},
    **{how: {"softmax_before_mask": how} for how in SOFTMAX_BEFORE_MASK},
}


@pytest.fixture(params=MODELS)
def drawn(request, monkeypatch):
    """A model, the variants of its layer 1 as they are drawn, and its own trace."""
    bundled = bundled_of(**MODELS[request.param])
    monkeypatch.setattr(engine, "load", lambda name: bundled)
    reading = model_on_text.Read(bundled, IDS, tuple(map(str, IDS)))
    state = {"rung": "causal", "p": 0.0, "seed": 0}
    one = drawn_variant.of_model(state, bundled, reading, (1, 0))
    many = drawn_variant.of_model(state | {"rung": "heads"}, bundled, reading, (1, 0))
    return bundled, one, many, heads_on_text.layer_trace(bundled.model, IDS, 1)


def test_what_is_drawn_is_what_the_model_computed(drawn):
    _, one, many, trace = drawn
    torch.testing.assert_close(one.steps.weights, trace["weights"][0], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(many.steps.weights, trace["weights"], atol=1e-5, rtol=1e-4)
    picture = {matrix.name: matrix.values for matrix in one.picture.matrices}
    if "angle" in picture:
        np.testing.assert_allclose(picture["position"] * picture["speed"], picture["angle"])
        half = picture["angle"].shape[1]
        before, after = picture["Q"][:, :half], picture["Q turned"][:, :half]
        paired = picture["Q"][:, half:]
        turned = before * np.cos(picture["angle"]) - paired * np.sin(picture["angle"])
        np.testing.assert_allclose(turned, after, atol=1e-4)


def test_captions_say_only_what_the_steps_did(drawn):
    bundled, one, many, _ = drawn
    for variant in (one, many):
        rows = variant.steps.weights.reshape(-1, *variant.steps.weights.shape[-2:])
        scores, scaled = variant.steps.scores, variant.steps.scaled
        factor = float((scaled / scores).median())
        d = bundled.model.config.head_size
        for names, caption in variant.picture.steps:
            if names[0].startswith("weights") and "add up to 1" in caption:
                torch.testing.assert_close(rows.sum(-1), torch.ones(rows.shape[:-1]))
            if names[0].startswith("masked") and "−∞" in caption:
                assert torch.isneginf(variant.steps.masked).any()
            if names[0].startswith("scaled"):
                right = "root of the head's size, so" in caption
                assert right == np.isclose(factor, d**-0.5)
                assert ("does not divide" in caption) == np.isclose(factor, 1)


def test_the_reason_of_a_forbidden_cell_names_its_place(drawn):
    bundled, one, _, _ = drawn
    ops = [matrix.op for matrix in one.picture.matrices if matrix.op]
    reasons = [op.params["reason"] for op in ops if op.kind == "masked"]
    forbidden = heads_on_text.seen_by_rows(bundled.model, len(IDS))
    behind = forbidden is not None and bool((~forbidden).tril().any())
    by_scores = bundled.model.config.softmax_before_mask in (None, "softmax_again")
    assert bool(reasons) == (forbidden is not None and by_scores)
    assert all(("window" in reason) == behind for reason in reasons)


def test_a_long_context_has_its_mask_too():
    model = GPT(GPTConfig(**SIZES | {"context_length": 4096}))
    assert torch.equal(heads_on_text.seen_by_rows(model, 5), causal_mask(5))
    assert torch.equal(heads_on_text.seen_by_rows(model, 1), causal_mask(1))
    assert heads_on_text.seen_by_rows(GPT(GPTConfig(**SIZES, mask="none")), 5) is None


def test_heads_that_share_keys_are_refused_by_name_and_looked_up_all_the_same():
    bundled = bundled_of(n_kv_head=2)
    with pytest.raises(ValueError, match="4 heads share 2"):
        heads_on_text.require_own_keys(bundled.model)
    one = look(bundled.model, IDS)
    products = np.einsum("lhd,lhtd->lht", one.queries, one.keys)
    np.testing.assert_allclose(products, one.scores, atol=1e-4, rtol=1e-4)


def test_speeds_are_those_that_the_model_turns_by():
    model = bundled_of(positions="rotary", rotary_base=77.0, rotary_scaling=(3.0,)).model
    rotary = model.blocks[0].attn.rotary
    half = rotary.cos.shape[1] // 2
    torch.testing.assert_close(heads_on_text.turning_speeds(model).cos()[0], rotary.cos[1, :half])
    assert heads_on_text.turning_speeds(bundled_of().model) is None


def test_attention_with_a_step_that_no_picture_knows_is_refused():
    """So is a new kind of positions that is in the arithmetic and not yet in the pictures."""
    for name in ("turned half", "sharper"):
        bundled = bundled_of(positions="rotary")
        for layer in bundled.model.blocks:
            attn = layer.attn
            if name == "turned half":
                attn.rotary.cos[:, ::2], attn.rotary.sin[:, ::2] = 1, 0
            else:
                made = attn.queries_keys_values
                attn.queries_keys_values = lambda *of, made=made: (
                    2 * (qkv := made(*of))[0],
                    *qkv[1:],
                )
        reading = model_on_text.Read(bundled, IDS, tuple(map(str, IDS)))
        with pytest.raises(ValueError, match="a step that this picture does not know"):
            real.model_head(replace(bundled, name=name), reading, 1, 0)
        with pytest.raises(ValueError, match="a step that this picture does not know"):
            steps = all_blocks(bundled.model, IDS)[1]
            Drawing(bundled.model, steps, IDS, tuple(map(str, IDS)), 1, 0)


@pytest.mark.parametrize("name", MODELS)
def test_a_weight_is_called_the_softmax_of_all_scores_only_where_it_is(name):
    """A window hides some of them from the last token, too."""
    model = bundled_of(**MODELS[name]).model
    one, seen = look(model, IDS), heads_on_text.seen_by_rows(model, len(IDS))
    expected = (seen is None or bool(seen[-1].all())) and name != "softmax_again"
    heads_of = product(range(2), range(model.config.n_head))
    assert {one.of_all_scores(head) for head in heads_of} == {expected}


@pytest.mark.parametrize("before", [None, *SOFTMAX_BEFORE_MASK])
@pytest.mark.parametrize("d", [1, 8, 64])
def test_every_step_has_a_caption(before, d):
    for factor, written in (scale_of(d), (1.0, "× 1"), (0.01, "÷ √10000")):
        captions = square_captions((factor, written), d, before)
        assert all(captions.values()) and "{" not in "".join(captions.values())


def test_own_columns_name_a_root_only_where_it_divides(monkeypatch):
    for name, says in (("usual", True), ("no scale", False), ("one head", True)):
        bundled = bundled_of(**MODELS[name])
        monkeypatch.setattr(engine, "load", lambda _, one=bundled: one)
        inputs = real.model_head(
            bundled, model_on_text.Read(bundled, IDS, tuple(map(str, IDS))), 0, None
        )
        _, told = heads.attend(inputs, bundled.model.config.n_head, all_columns=False)
        assert ("root of a head's own size" in told) == says
        assert told.startswith("There is one head") == (name == "one head")


@pytest.mark.parametrize("front", [None, ()])
def test_a_text_is_not_said_to_have_a_start_token_where_its_model_reads_none(front, monkeypatch):
    """Published models may begin with the text itself."""
    told: list[str] = []
    monkeypatch.setattr(model_on_text, "inform", lambda line, _: told.append(line))
    tokenizer = BPETokenizer([])
    tokenizer.front = front
    bundled = SimpleNamespace(
        name="m", tokenizer=tokenizer, model=SimpleNamespace(context_length=4)
    )
    model_on_text.read("a longer text", bundled)
    assert ("the start token included" in told[0]) == (front is None)
    assert "start token" not in steps.words.largest_other + steps.words.only_itself_or_first


@pytest.mark.parametrize("own", [0.9001, 0.95, 0.9999])
def test_tokens_that_look_at_themselves_have_the_highest_score_there(own):
    weights = np.full((5, 5), (1 - own) / 4)
    np.fill_diagonal(weights, own)
    assert f"{own:.1%}" in steps._only_itself(weights) or own > 0.999
    leaving = np.zeros((5, 5))  # a row may lose most of its weight: nothing is said of it
    leaving[:, 0] = 0.2
    assert "nearly all" not in steps._only_itself(leaving)


def test_the_end_of_step_by_step_names_the_largest_share_of_the_last_row():
    weights = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    variant = SimpleNamespace(
        steps=SimpleNamespace(weights=weights), inputs=SimpleNamespace(tokens=["a", "b"])
    )
    told = steps.end(variant)
    assert told["share"] == "50%" and "a" in told["asked"] and "b" in told["asking"]
    one = SimpleNamespace(steps=SimpleNamespace(weights=torch.ones(2, 1, 1)), inputs=variant.inputs)
    one.inputs.tokens = ["a"]
    assert steps.end(one)["share"] == "100%"


def test_a_head_has_a_note_only_where_a_token_has_a_choice():
    shares = {name: np.full((1, 1), 0.25) for name in HeadSummary._fields}
    assert trained.note(HeadSummary(**shares), 0, 0).count("25\xa0%") == 3
    nothing = {name: np.full((1, 1), math.nan) for name in HeadSummary._fields}
    assert trained.note(HeadSummary(**nothing), 0, 0) == ""


def test_a_sentence_that_the_context_cuts_is_quoted_as_far_as_it_was_read():
    bundled = bundled_of(context_length=4)
    text = opening.read_of(bundled)
    assert TEXT.startswith(text) and len(bundled.tokenizer.encode(text)) == 3
    assert opening.read_of(bundled_of()) == TEXT


@pytest.mark.parametrize("when", [None, *SOFTMAX_BEFORE_MASK])
@pytest.mark.parametrize("size", [0.1, 1.0, 30.0])
def test_no_leak_is_said_only_where_it_is_within_what_is_said(monkeypatch, when, size):
    torch.manual_seed(1)
    x = size * torch.randn(6, 4, dtype=torch.float64)
    mask = causal_mask(6)
    computed = attention(x, x, x, mask, softmax_before_mask=when)
    lines = []
    monkeypatch.setattr(masks_chapter.kit, "prose", lines.append)
    masks_chapter.say_leak(computed, mask, when)
    leaked = masks_chapter.leak(computed, mask, when)
    assert (lines == [words.mask_tight]) == (leaked <= 1e-5)
    assert "0.00001" in words.mask_tight


def test_a_mask_that_forbids_nothing_is_not_said_to_forbid_cells():
    nothing = words.end_mask["none"]
    assert masks_chapter.forbids(None, 9) == nothing
    assert masks_chapter.forbids(torch.ones(3, 3, dtype=torch.bool), 9) == nothing
    assert "3 of 9 cells" in masks_chapter.forbids(causal_mask(3), 9)
