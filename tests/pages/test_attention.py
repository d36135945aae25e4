"""The lesson on attention without a browser: every matrix is what the library computes.

Models here are small and untrained: what a page draws of them must still be their trace.
What the in-page components draw is tested in the browser.
"""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pandas as pd
import pytest
import torch

from llmviz import pretrained
from llmviz.corpus.language import translate
from llmviz.models import GPT, GPTConfig
from llmviz.models.seq2seq import Seq2Seq, Seq2SeqConfig
from llmviz.nn.attention import attention, causal_mask, heads_off
from llmviz.nn.attention import ladder as rungs
from llmviz.tokenizers import get_tokenizer
from llmviz.trace import record
from llmviz.ui import engine
from llmviz.ui.components import unpack
from llmviz.ui.lessons.attention import (
    build,
    cross,
    examples,
    heads,
    mask_effects,
    params,
    real,
    sources,
    trained,
    words,
)
from llmviz.ui.lessons.attention.picture import Picture, scale_of
from llmviz.ui.lessons.attention.real import Read
from llmviz.ui.lessons.attention.sources import Inputs
from tests.nn.reference import JOURNEY, W_K, W_Q, W_V, X, agrees
from tests.pages.harness import open_part, run_snippet, snippets

PARTS = ["why", "steps", "masks", "scale", "heads", "trained"]
ODD_TEXTS = ["a", "   ", "a\x00b", "<|endoftext|>", "<b>x</b> [[token]] {0} $x$", "🙂é한"]
TEXT = "the cat and the dog and the cat"


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory):
    """A folder with one narrow and one wide GPT and a translator, all untrained."""
    folder = tmp_path_factory.mktemp("checkpoints")
    bpe = get_tokenizer("bpe")
    torch.manual_seed(0)
    common = {"vocab_size": bpe.vocab_size, "context_length": 24, "n_layer": 2, "n_head": 4}
    made = {
        "narrow": GPT(GPTConfig(n_embd=16, **common)),
        "wide": GPT(GPTConfig(n_embd=96, **common)),
    }
    word = get_tokenizer("word")
    special = word.special_tokens
    made["pairs-seq2seq"] = Seq2Seq(
        Seq2SeqConfig(
            vocab_size=word.vocab_size,
            context_length=32,
            n_embd=16,
            pad_id=special["<|pad|>"],
            start_id=special["<|endoftext|>"],
            end_id=special["<|endoftext|>"],
        )
    )
    bundles = {}
    for name, model in made.items():
        kind = "seq2seq" if name == "pairs-seq2seq" else "gpt"
        size = sum(p.numel() for p in model.parameters())
        card = {"model": kind, "corpus": "tiny-world", "parameters": size, "steps": 0}
        (folder / name).mkdir()
        (folder / name / "card.json").write_text(json.dumps(card), encoding="utf-8")
        (folder / name / "model.safetensors").touch()  # its date is its version
        for part in model.parameters():  # an untrained head is nearly blind; this one is not
            if part.dim() == 2:
                torch.nn.init.normal_(part, std=0.3)
        tokenizer = word if kind == "seq2seq" else bpe
        frozen = model.eval().requires_grad_(False)
        bundles[name] = engine.Bundled(name, frozen, tokenizer, card)
    patch = pytest.MonkeyPatch()
    patch.setattr(engine, "CHECKPOINTS", folder)
    patch.setattr(pretrained, "CHECKPOINTS", folder)
    patch.setattr(engine, "load", bundles.__getitem__)
    patch.setattr(
        pretrained,
        "load_bundled",
        lambda name: (bundles[name].model, bundles[name].tokenizer, bundles[name].card),
    )
    yield bundles
    patch.undo()


def said(app) -> str:
    return " ".join(block.proto.body for block in app.get("html"))


def messages(app) -> list[str]:
    boxes = [*app.error, *app.info, *app.warning]
    return [box.value.replace("\\", "") for box in boxes]


def fine(app) -> None:
    assert [str(error.value) for error in app.exception] == []


def head(x=X, w=(W_Q, W_K, W_V), tokens=("The", "cat", "sat")) -> Inputs:
    return Inputs(tuple(tokens), x, w)


def shown(picture: Picture, name: str) -> np.ndarray:
    return picture.matrix(name).values


# ---- what is drawn is what is computed


def evaluate(picture: Picture, matrix, i: int, j: int) -> tuple[float, float]:
    """Work a cell out from its operands rounded to the digits shown; also how far off that may be.

    An own reading of each operation, as the page writes it out.
    """
    op, digits = matrix.op, matrix.digits
    half = 0.5 * 10.0**-digits
    of = [np.round(np.asarray(picture.matrix(name).values, float), digits) for name in op.operands]
    if op.kind == "matmul":
        left = of[0][i]
        right = of[1][j] if op.params["transpose_b"] else of[1][:, j]
        bias = of[2][0, j] if len(of) > 2 else 0.0
        slack = half * (np.abs(left).sum() + np.abs(right).sum() + 1 + len(left) * half)
        return float(left @ right + bias), slack
    if op.kind == "scaled":
        by = op.params["by"]
        return of[0][i, j] * by, half * abs(by)
    if op.kind == "masked":
        return of[0][i, j], half
    if op.kind == "softmax_rows":
        raised = np.exp(of[0][i])
        return raised[j] / raised.sum(), 2 * half
    if op.kind == "dropout":
        kept = of[1][i, j]
        return of[0][i, j] / (1 - op.params["p"]) * kept, half / (1 - op.params["p"])
    if op.kind == "columns":
        return of[0][i, op.params["start"] + j], half
    if op.kind == "concat":
        return np.concatenate(of, axis=1)[i, j], half
    if op.kind == "multiply":
        return of[0][i, j] * of[1][i, j], 2 * half
    assert op.kind == "rows_normalised"
    return of[0][i, j] / of[0][i].sum(), 40 * half


def random_pictures() -> list[Picture]:
    chance = torch.Generator().manual_seed(4)
    made = []
    for t, c in ((3, 4), (5, 8), (1, 4), (6, 4)):
        x, *w = (
            torch.randn(*shape, generator=chance, dtype=torch.float64) * 0.6
            for shape in ((t, c), (c, c), (c, c), (c, c))
        )
        inputs = head(x, tuple(w), [f"t{i}" for i in range(t)])
        mask = causal_mask(t)
        made.append(build.simplified(inputs, rungs.simplified(x)))
        one = rungs.single_head(x, *w, mask, dropout=0.3, generator=chance).attention
        made.append(build.one_head(inputs, one, scale_of(c), "later", 0.3))
        many = rungs.multi_head(x, *w, 2, mask=mask)
        made.append(build.many_heads(inputs, many, 2, scale_of(c // 2)))
        for before in ("softmax_again", "leave", "renormalise"):
            wrong = attention(x, x, x, mask, softmax_before_mask=before)
            inputs = Inputs(inputs.tokens, x, tuple(w), given=(x, x, x))
            made.append(build.one_head(inputs, wrong, scale_of(c), "later", before=before))
            made[-1].matrices = [
                m for m in made[-1].matrices if m.name not in "XQKV" and "W_" not in m.name
            ] + [m for m in made[-1].matrices if m.name in "QKV" or "W_" in m.name]
    return made


def test_the_expression_of_200_random_cells_evaluates_to_the_value():
    chance = random.Random(0)
    pictures = random_pictures()
    done = 0
    while done < 200:
        picture = chance.choice(pictures)
        matrix = chance.choice([m for m in picture.matrices if m.op is not None])
        if matrix.name in ("Q", "K", "V") and picture.matrix("Q").values.shape == (0, 0):
            continue
        rows, columns = matrix.values.shape
        i, j = chance.randrange(rows), chance.randrange(columns)
        value = float(matrix.values[i, j])
        if given_directly(picture, matrix):
            continue
        done += 1
        if value == -math.inf:
            assert matrix.op.kind == "masked"
            continue
        found, slack = evaluate(picture, matrix, i, j)
        assert found == pytest.approx(value, abs=slack + 10.0**-matrix.digits), (matrix.name, i, j)


def given_directly(picture: Picture, matrix) -> bool:
    """Whether a test made Q, K and V without the matrices that stand before them."""
    return matrix.name in ("Q", "K", "V") and "softmax" in {m.name for m in picture.matrices}


def test_the_example_with_three_words_has_its_known_numbers():
    picture = build.one_head(
        head(),
        rungs.causal_head(X, W_Q, W_K, W_V).attention,
        scale_of(4),
        words.matrices.MASK_REASON,
    )
    known = {
        "Q": ([[0.5, 0.31, 0.54, 0.46], [0.53, 0.31, 0.49, 0.45], [0.365, 0.235, 0.275, 0.275]], 6),
        "scores": (
            [[0.5172, 0.5130, 0.37155], [0.5093, 0.5053, 0.36495], [0.33355, 0.33185, 0.236325]],
            6,
        ),
        "weights": ([[1, 0, 0], [0.5005, 0.4995, 0], [0.3388, 0.3385, 0.3227]], 4),
        "context": (
            [[0.07, 0.32, 0.32, 0.27], [0.08, 0.315, 0.315, 0.265], [0.08, 0.2714, 0.2763, 0.2505]],
            4,
        ),
    }
    for name, (expected, digits) in known.items():
        assert agrees(torch.from_numpy(shown(picture, name)), expected, digits), name


def test_the_bundled_examples_are_the_worked_ones():
    for key, expected in zip(params.MATRICES[:-1], (X, W_Q, W_K, W_V), strict=True):
        assert torch.equal(sources.tensor(sources.CAT[key]), expected)
    rows = torch.tensor(list(sources.JOURNEY.values()), dtype=torch.float64)
    assert torch.equal(rows, JOURNEY)
    steps = rungs.simplified(rows)
    row = [[0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]]
    assert agrees(steps.weights[1:2], row, 4)
    assert agrees(steps.output[1:2], [[0.4419, 0.6515, 0.5683]], 4)


@pytest.mark.parametrize("name", ["narrow", "wide"])
@pytest.mark.parametrize("number", [0, 3])
def test_every_matrix_of_a_model_is_the_trace_entry_that_it_names(models, name, number):
    bundled = models[name]
    ids = (0, *bundled.tokenizer.encode(TEXT))[:9]
    read = Read(tuple(ids), tuple(real.names_of(ids, bundled.tokenizer)))
    inputs = real.model_head(bundled, read, 1, number)
    steps = attention(*inputs.qkv(), causal_mask(len(ids)))
    picture = build.one_head(inputs, steps, scale_of(inputs.qkv()[0].shape[1]), "later")
    with torch.inference_mode(), record("blocks.1.*") as trace:
        bundled.model(torch.tensor([ids]))
    entries = {
        "Q": "q", "K": "k", "V": "v", "scores": "scores", "scaled": "scaled",
        "masked": "masked", "weights": "weights", "context": "output",
    }  # fmt: skip
    for matrix, tap in entries.items():
        expected = trace[f"blocks.1.attn.{tap}"][0, number].numpy()
        np.testing.assert_allclose(shown(picture, matrix), expected, atol=2e-5, err_msg=matrix)
    names = {m.name for m in picture.matrices}
    assert ("X" in names) == (name == "narrow")
    if name == "narrow":
        np.testing.assert_array_equal(shown(picture, "X"), trace["blocks.1.norm1"][0].numpy())
        again = shown(picture, "X") @ shown(picture, "W_Q") + shown(picture, "b_Q")
        np.testing.assert_allclose(again, shown(picture, "Q"), atol=1e-5)


def test_all_maps_are_the_trace_in_steps_of_1_255(models):
    bundled = models["narrow"]
    ids = (0, *bundled.tokenizer.encode(TEXT))
    maps, logits = real.all_maps("narrow", "test", ids)
    with torch.inference_mode(), record("blocks.*.attn.weights") as trace:
        full = bundled.model(torch.tensor([ids]))[0]
    exact = torch.cat(list(trace.values())).numpy()
    assert np.abs(maps / 255 - exact).max() <= 0.5 / 255 + 1e-6
    np.testing.assert_allclose(logits, full[0, -1].numpy(), atol=1e-5)


def test_shuffling_tokens_shuffles_the_output():
    order = torch.randperm(6, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(
        rungs.simplified(JOURNEY[order]).output, rungs.simplified(JOURNEY).output[order]
    )
    w = [torch.eye(3, dtype=torch.float64)] * 3
    assert torch.allclose(
        rungs.single_head(JOURNEY[order], *w).output, rungs.single_head(JOURNEY, *w).output[order]
    )


def test_heads_off_are_zeroed_columns(models):
    bundled = models["narrow"]
    ids = (0, *bundled.tokenizer.encode(TEXT))
    with torch.inference_mode(), record("blocks.0.attn.concat") as on:
        bundled.model(torch.tensor([ids]))
    with torch.inference_mode(), heads_off([(0, 1), (0, 3)]), record("blocks.0.attn.*") as off:
        bundled.model(torch.tensor([ids]))
    expected = on["blocks.0.attn.concat"].clone()
    expected[..., 4:8] = 0
    expected[..., 12:] = 0
    torch.testing.assert_close(off["blocks.0.attn.concat"], expected)
    by_page = heads.last_logits("narrow", "test", ids, ((0, 1), (0, 3)))
    with torch.inference_mode(), heads_off([(0, 1), (0, 3)]):
        logits = bundled.model(torch.tensor([ids]))[0]
    np.testing.assert_allclose(by_page, logits[0, -1].numpy(), atol=1e-5)


# ---- masks


def test_masks_and_their_mistakes_are_said():
    app = open_part("attention", "masks", mask="off_by_one")
    assert "“The” now sees “cat”" in " ".join(m.value for m in app.markdown)
    fine(app)
    assert words.masks.MASK_TIGHT.replace("**", "")[:30] in said(app).replace(
        "<strong>", ""
    ).replace("</strong>", "")
    again = open_part("attention", "masks", when="softmax_again")
    assert "they move by up to" in said(again)
    same = open_part("attention", "masks", when="renormalise")
    assert words.masks.MASK_EQUAL in said(same)
    low = open_part("attention", "masks", when="leave")
    assert "Row sums now: 0.34, 0.68, 1.00" in said(low)


def test_the_leak_is_zero_for_the_right_order_only():
    mask = causal_mask(3)
    x = X @ W_Q
    for before, leaks in ((None, False), ("softmax_again", True), ("leave", True)):
        steps = attention(x, x, x, mask, softmax_before_mask=before)
        assert (mask_effects.leak(steps, mask, before) > 1e-5) == leaks, before
    steps = attention(x, x, x, mask, softmax_before_mask="renormalise")
    assert mask_effects.leak(steps, mask, "renormalise") < 1e-12


# ---- bad input


def test_one_token_is_said_to_look_at_itself():
    app = open_part("attention", "steps", source="journey", words="step")
    fine(app)
    assert words.ladder.ONE_TOKEN in said(app)
    for part in PARTS:
        fine(open_part("attention", part, source="model", model="narrow", text="a"))


def test_more_tokens_than_the_context_are_cut_saying_where(models):
    text = "the cat sat on the mat and the dog sat on the cat. " * 5
    app = open_part("attention", "trained", model="narrow", text=text)
    fine(app)
    line = next(m for m in messages(app) if "context of narrow ends after token 24" in m)
    tokenizer = models["narrow"].tokenizer
    last = real.names_of(tokenizer.encode(text)[22:23], tokenizer)[0]
    assert f"{len(tokenizer.encode(text)) + 1:,} tokens long" in line and last in line


@pytest.mark.parametrize(
    ("cell", "rule"),
    [("nan", "finite"), ("inf", "finite"), ("-inf", "finite"), ("cat", "no number"), ("", "empty")],
)
def test_an_edited_matrix_needs_numbers(cell, rule):
    rows = f"1,0,0,0;0,1,0,0;0,0,1,{cell};0,0,0,1"
    with pytest.raises(ValueError, match=rf"row 3, column 4 is .*{rule}|row 3, column 4.*{rule}"):
        params.parse_matrix(rows)
    app = open_part("attention", "steps", wq=rows)
    fine(app)
    assert any("row 3, column 4" in m for m in messages(app))


@pytest.mark.parametrize("cell", [None, float("nan"), float("inf"), "cat"])
def test_a_table_with_a_bad_cell_is_refused(cell):
    table = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], dtype=object)
    assert examples.checked(table) == "1,2;3,4"
    table.iat[1, 0] = cell
    with pytest.raises(ValueError, match="row 2, column 1"):
        examples.checked(table)


def test_matrices_of_another_shape_are_refused():
    for rows in ("1,2;3", "1,2;3,4", ";".join(["1"] * 40)):
        app = open_part("attention", "steps", wq=rows)
        fine(app)
        assert messages(app), rows
    with pytest.raises(ValueError, match="same number of cells"):
        params.parse_matrix("1,2;3")


def test_every_later_matrix_follows_an_edit():
    app = open_part("attention", "steps", wv="0,0,0,0;0,0,0,0;0,0,0,0;0,0,0,0")
    fine(app)
    snippet, prints = snippets(app)[0]
    assert prints.count("0.000") == 4
    assert run_snippet(snippet).strip() == prints


@pytest.mark.parametrize(
    ("link", "rule"),
    [
        ({"mask": "own", "own": "100.000.111"}, "row 1 of the mask may look at no token"),
        ({"mask": "padding", "real": "0"}, "each length must be from 1 to 3"),
        ({"mask": "padding", "real": "9"}, "each length must be from 1 to 3"),
    ],
)
def test_a_fully_masked_row_is_refused(link, rule):
    app = open_part("attention", "masks", **link)
    fine(app)
    assert any(rule in m for m in messages(app))


def test_unknown_words_are_refused():
    app = open_part("attention", "steps", source="journey", words="Your <b>dog</b> starts")
    fine(app)
    assert any("The word '<b>dog</b>' has no vector" in m for m in messages(app))
    app = open_part("attention", "trained", look="cross", sentence="the unicorn sleeps")
    fine(app)
    assert any("does not know the sentence" in m for m in messages(app))


@pytest.mark.parametrize("part", ["steps", "trained"])
def test_a_head_that_does_not_exist_is_replaced_and_said(part):
    app = open_part("attention", part, source="model", model="narrow", layer="7", head="9")
    fine(app)
    said_so = " ".join(messages(app))
    assert "layer = 7 does not exist" in said_so and "head = 9 does not exist" in said_so


def test_a_head_switched_off_that_does_not_exist_is_said():
    app = open_part("attention", "heads", model="narrow", off="0.1,5.5,x")
    fine(app)
    assert any("5.5,x" in m.replace(" ", "") for m in messages(app))
    assert heads.read_heads("1.3,0.0,0.0,2.0,", 2, 4) == ([(0, 0), (1, 3)], ["2.0"])


def test_a_cell_that_does_not_exist_is_let_go():
    app = open_part("attention", "steps", cell="weights.7.7")
    fine(app)
    assert words.ladder.NO_CELL in messages(app)


@pytest.mark.parametrize("part", PARTS)
def test_odd_texts_break_nothing(part):
    app = open_part("attention", part, source="model", model="narrow")
    for text in ODD_TEXTS:
        app.text_area[0].set_value(text).run()
        fine(app)
        for snippet, prints in snippets(app):
            assert run_snippet(snippet).strip() == prints.strip(), text


@pytest.mark.parametrize("part", PARTS)
def test_without_models_the_page_says_so_and_goes_on(part, monkeypatch, tmp_path):
    monkeypatch.setattr(engine, "CHECKPOINTS", tmp_path)
    app = open_part("attention", part)
    fine(app)
    if part not in ("steps", "scale"):
        assert any("not in this copy" in m or "missing in this copy" in m for m in messages(app))


# ---- a trained model's heads


def test_written_tokens_are_the_most_probable_ones_and_are_drawn(models):
    bundled = models["narrow"]
    start = Read((0, *bundled.tokenizer.encode("the cat")), ())
    read, ended = trained.written(bundled, start, 3)
    ids = list(start.ids)
    with torch.inference_mode():
        for _ in range(3):
            ids.append(int(bundled.model(torch.tensor([ids]))[0][0, -1].argmax()))
    assert ended or list(read.ids) == ids
    app = open_part("attention", "trained", model="narrow", text="the cat", new="3")
    fine(app)


def test_the_context_ends_the_writing(models):
    bundled = models["narrow"]
    start = Read((0, *bundled.tokenizer.encode(TEXT * 3))[:23], ())
    read, ended = trained.written(bundled, start, 5)
    assert ended and len(read.ids) <= 24


def test_cross_attention_is_the_trace(models):
    bundled = models["pairs-seq2seq"]
    source = tuple(bundled.tokenizer.encode("the cat and the dog"))
    weights, target = cross.cross_maps("pairs-seq2seq", "test", source)
    assert weights.shape[:2] == (2, 4) and weights.shape[3] == len(source)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    with torch.inference_mode():
        ids = bundled.model.translate(torch.tensor([source]))[0]
    assert bundled.tokenizer.decode(ids[:31]) == target


def test_the_sentence_offered_is_in_the_grammar():
    assert len(translate(words.sources.SENTENCE).alignment) >= 6
    app = open_part("attention", "trained", look="cross")
    fine(app)


def test_what_travels_for_many_heads_is_small():
    from llmviz.ui.components import pack
    from llmviz.ui.components.matrices import heads_payload

    for t, limit in ((64, 0.6e6), (256, 5e6)):
        weights = np.tril(np.full((12, 12, t, t), 3, dtype=np.uint8))
        payload = heads_payload(weights, None, None, ["token"] * t, None, None)
        message = pack(payload | {"chosen": None, "lines": True})
        assert len(message) <= limit, t
        assert unpack(message)["shape"] == [12, 12, t, t]
