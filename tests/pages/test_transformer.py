"""The lesson "Inside the transformer": what it draws is what the models compute."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from llmviz.course.components import unpack
from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.sampling.loop import chapter as loop
from llmviz.course.lessons.transformer.block.drawing import Captions
from llmviz.course.lessons.transformer.halves import teacher
from llmviz.course.lessons.transformer.halves import words as halves_words
from llmviz.course.lessons.transformer.halves.model import Decoding
from llmviz.course.lessons.transformer.patching import chapter as patching
from llmviz.course.lessons.transformer.stream import chapter as stream
from llmviz.course.lessons.transformer.stream import ledger
from llmviz.course.lessons.transformer.stream import ledger as ledger_part
from llmviz.course.lessons.transformer.stream.chapter import opened_cell
from llmviz.course.lessons.transformer.units import words as unit_words
from llmviz.course.ui import engine
from llmviz.course.ui.model_on_text import names_of
from llmviz.course.ui.two_prompts import token_of, written
from llmviz.interpretability.attribution import Entry, FrozenNorm, Ledger, logit_ledger
from llmviz.interpretability.lens import Lens, logit_lens
from llmviz.interpretability.patching import Site, patch, read_prompt
from llmviz.models import GPTConfig
from llmviz.models.settings import NORMS
from tests.pages.conftest import use
from tests.pages.harness import boxes, charts, fine, open_part, prose_of, sent, unpack_all
from tests.pages.small_model import HEADS, LAYERS, ids_of, logits_of, make_checkpoint, make_real
from tests.pages.test_transformer_block import computed

TEXT = "Once Anna met Samir. Then"


# ---- reading the stream


def test_the_grid_is_the_lens_and_its_last_row_the_model(bundle):
    app = open_part("transformer", "stream", text=TEXT)
    fine(app)
    grid, lens = sent(app, "cell_grid"), logit_lens(bundle.model, ids_of(bundle, TEXT))
    np.testing.assert_array_equal(grid["values"], lens.probabilities[..., 0].numpy())
    best = int(logits_of(bundle, TEXT).argmax())
    assert int(lens.tokens[-1, -1, 0]) == best
    p = np.exp(logits_of(bundle, TEXT))
    assert grid["values"][-1, -1] == pytest.approx(p.max() / p.sum(), rel=1e-4)
    assert grid["chosen"] == [LAYERS, len(ids_of(bundle, TEXT)) - 1]


def test_the_colour_is_what_its_name_says(bundle):
    lens = logit_lens(bundle.model, ids_of(bundle, TEXT))
    grid = sent(open_part("transformer", "stream", text=TEXT, lens="entropy"), "cell_grid")
    np.testing.assert_array_equal(grid["values"], lens.entropy.numpy())
    assert grid["limit"] == pytest.approx(np.log(bundle.model.vocab_size))
    grid = sent(open_part("transformer", "stream", text=TEXT, lens="agreement"), "cell_grid")
    np.testing.assert_array_equal(grid["values"], lens.of_last.numpy())
    np.testing.assert_array_equal(grid["strong"], lens.agrees.numpy())


def test_a_cell_of_the_link_opens_its_ten_best(bundle):
    app = open_part("transformer", "stream", text=TEXT, point="1.2")
    assert sent(app, "cell_grid")["chosen"] == [1, 2]
    lens = logit_lens(bundle.model, ids_of(bundle, TEXT))
    cells = {one["name"]: one["values"] for one in unpack_all(app, "matrix_view")[0]["matrices"]}
    assert cells["p"][0].tolist() == pytest.approx(lens.probabilities[1, 2].tolist(), rel=1e-3)


@given(st.text(max_size=12), st.integers(1, 9), st.integers(1, 9))
def test_any_cell_of_a_link_is_one_that_exists(written, points, tokens):
    row, column = opened_cell(written, points, tokens)
    assert 0 <= row < points and 0 <= column < tokens


@pytest.mark.parametrize(("parts", "against"), [("all", ""), ("layers", "a")])
def test_the_waterfall_ends_at_the_models_own_logit(bundle, parts, against):
    app = open_part("transformer", "stream", text=TEXT, credit="e", against=against, parts=parts)
    fine(app)
    logits, one = logits_of(bundle, TEXT), bundle.tokenizer.encode
    wanted = logits[one("e")[0]] - (logits[one("a")[0]] if against else 0)
    bars = charts(app)[0]["data"][0]
    assert bars["x"][-1] == pytest.approx(wanted, abs=1e-4)
    assert sum(bars["x"][:-1]) == pytest.approx(wanted, abs=1e-4)
    # Each bar begins where the one above it ends.
    ends = np.add(bars["base"], bars["x"])
    np.testing.assert_allclose(bars["base"][1:-1], ends[:-2], atol=1e-6)
    layer = 1 + 1 if parts == "layers" else HEADS + 3
    assert len(bars["x"]) == 2 + LAYERS * layer + 1 + 1


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"credit": "Anna and Samir"}, "A logit belongs to one token"),
        ({"credit": "e", "against": "e"}, "the difference is 0"),
    ],
)
def test_a_ledger_without_a_token_says_so(bundle, link, line):
    app = open_part("transformer", "stream", text=TEXT, **link)
    fine(app)
    assert line in boxes(app)


def test_a_stream_that_is_no_sum_has_a_lens_and_no_ledger(tmp_path, monkeypatch):
    make_checkpoint(tmp_path, norm="post")
    use(monkeypatch, tmp_path)
    app = open_part("transformer", "stream", text=TEXT)
    fine(app)
    assert sent(app, "cell_grid")["values"].shape[0] == LAYERS + 1
    assert 'norm="post"' in boxes(app) and "only added to" in boxes(app)
    assert "the model says" in prose_of(app) and not charts(app)


def test_the_last_column_is_held_back_until_a_click_in_it(bundle, covers):
    app = open_part("transformer", "stream", text=TEXT)
    fine(app)
    ids = ids_of(bundle, TEXT)
    lens = logit_lens(bundle.model, ids)
    asked = stream.question(lens, "x")
    grid = sent(app, "cell_grid")
    hidden = [row[-1] for row in grid["texts"]] == [stream.words.waits] * (LAYERS + 1)
    assert hidden == (asked is not None) == (not grid["values"][:, -1].any())
    assert bool(charts(app)) == (asked is None)


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_the_row_that_is_asked_for_is_the_first_from_which_the_answer_leads(agrees):
    agrees = [*agrees, True]
    lens = Lens(None, None, None, torch.tensor(agrees)[:, None], None, None)
    asked, last = stream.question(lens, "x"), len(agrees) - 1
    first = next(row for row in range(last + 1) if all(agrees[row:]))
    assert asked is not None or first == 0 or last < 2
    if asked is not None:
        assert asked.values[asked.right] == (first,) and len(asked.answers) >= 3
        assert {0, last} <= {value for (value,) in asked.values}


numbers = st.floats(-20, 20, allow_nan=False)


@given(
    st.lists(st.tuples(st.sampled_from(sorted(ledger_part.words.part_names)), numbers), min_size=1)
)
def test_what_a_ledger_says_is_true_of_its_bars(drawn):
    entries = [Entry(kind, 0, 0, value) for kind, value in drawn]
    total = sum(entry.value for entry in entries)
    made = Ledger(tuple(entries), FrozenNorm("none", 1.0), total)
    folded = ledger_part.folded(entries)
    assert sum(e.value for e in folded) == pytest.approx(total, abs=1e-6)
    for shown in (entries, folded):
        line = ledger_part.summary(made, shown, "the logit", "here")
        most = max(entry.value for entry in shown)
        least = min(entry.value for entry in shown)
        assert ("takes the most back" in line) == (least < 0)
        assert ("biggest payer" in line) == (most > 0 or least >= 0)


@pytest.mark.parametrize("typed", ["·Anna", " Anna"])
def test_a_typed_token_may_have_its_space_as_a_dot(bundle, typed):
    ids = bundle.tokenizer.encode(" Anna")
    if len(ids) == 1:
        assert token_of(typed, [], bundle.tokenizer) == ids[0]
    else:
        with pytest.raises(ValueError, match="one token"):
            token_of(typed, [], bundle.tokenizer)
    best = [int(i) for i in torch.arange(5)]
    name = names_of([3], bundle.tokenizer)[0]
    assert token_of(name, best, bundle.tokenizer) == 3


# ---- patching

OWN, DONOR = "Once Anna had a key. It", "Once Anna had a dog. It"
PROMPTS = {"prompt": OWN, "donor": DONOR, "answer": "a", "other": "e"}


def test_the_maps_are_one_patch_a_cell(bundle):
    app = open_part("transformer", "patching", **PROMPTS)
    fine(app)
    model = bundle.model
    own, donor = (read_prompt(model, ids_of(bundle, text)) for text in (OWN, DONOR))
    a, e = (bundle.tokenizer.encode(token)[0] for token in "ae")
    start, goal = (float(one.logits[e] - one.logits[a]) for one in (own, donor))
    stream, parts = unpack_all(app, "cell_grid")
    first = next(at for at, (x, y) in enumerate(zip(own.ids, donor.ids, strict=False)) if x != y)
    places = stream["values"].shape[1]
    if len(own.ids) == len(donor.ids):
        assert places == min(patching.PLACES, len(own.ids) - first)
    sites = [Site("head", layer, 0, head) for layer in range(LAYERS) for head in range(HEADS)]
    sites += [Site("mlp", layer, 0) for layer in range(LAYERS)]
    for grid, rows in (
        (stream, [Site("stream", layer, 0) for layer in range(LAYERS + 1)]),
        (parts, sites),
    ):
        for row, site in zip(grid["values"], rows, strict=True):
            for column, value in enumerate(row):
                logits = patch(model, own, donor, [site._replace(back=places - 1 - column)])
                moved = (float(logits[e] - logits[a]) - start) / (goal - start)
                assert value == pytest.approx(np.clip(moved, -9.99, 9.99), abs=5e-3)
    assert stream["values"][LAYERS, -1] == pytest.approx(1, abs=1e-4)  # after the last: all of it


def test_a_new_map_shows_how_far_it_is(bundle, monkeypatch):
    """A place a rerun: a bar with the share that is known, and no map before all of it is."""
    monkeypatch.setattr(patching, "SLICE", 0.0)
    patching.growing.clear()
    longer = {"prompt": "Once a key was here. It", "donor": "Once a dog was here. It"}
    app = open_part("transformer", "patching", **PROMPTS | longer)
    fine(app)
    (bar,) = app.get("progress")
    shares = [bar.proto.value]
    assert 0 < shares[0] < 100
    app.run()
    fine(app)
    (bar,) = app.get("progress")
    assert bar.proto.value > shares[0]
    assert "llmviz_cell_grid" not in [p.proto.component_name for p in app.get("bidi_component")]
    monkeypatch.setattr(patching, "SLICE", 60.0)
    app.run()
    fine(app)
    assert not app.get("progress") and unpack_all(app, "cell_grid")[0]["values"].size


@pytest.mark.parametrize("link", ["head.1.0.2", "head.1.0.2,head.0.0.1"])
def test_sites_of_the_link_open_what_came_out(bundle, link):
    app = open_part("transformer", "patching", **PROMPTS, site=link)
    fine(app)
    own, donor = (read_prompt(bundle.model, ids_of(bundle, text)) for text in (OWN, DONOR))
    sites = [Site("head", 1, 0, 2), Site("head", 0, 0, 1)][: link.count(",") + 1]
    logits = [own.logits, patch(bundle.model, own, donor, sites), donor.logits]
    for bars, one in zip(charts(app)[0]["data"], logits, strict=True):
        assert set(np.round(bars["y"], 5)) <= set(np.round(one.softmax(-1).tolist(), 5))
    a, e = (bundle.tokenizer.encode(token)[0] for token in "ae")
    start, moved, goal = (float(one[e] - one[a]) for one in logits)
    share = written((moved - start) / (goal - start))
    assert f"The answer moves {share} of the way" in prose_of(app).replace("\n", " ")
    grid = unpack_all(app, "cell_grid")[-1]  # what is told of several is marked at all of them
    assert len(grid["together"]) == len(sites) and (grid["chosen"] is None) == (len(sites) > 1)


@pytest.mark.parametrize("site", ["head.9.0.0", "stream.0", "x", "head.1.0", "mlp.1.0.3", "..."])
def test_a_site_that_is_not_there_is_the_swapped_word(bundle, site):
    app = open_part("transformer", "patching", **PROMPTS, site=site)
    fine(app)
    grid = unpack_all(app, "cell_grid")[0]
    row, column = grid["chosen"]
    assert row == 0 and "←" in grid["columnNames"][column]


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ({"donor": OWN}, "Both prompts have the same tokens"),
        ({"answer": "e", "other": "e"}, "Both answers are e"),
        ({"answer": "Anna and Samir"}, "A logit belongs to one token"),
        ({"prompt": "so " * 200}, "40 at most"),
        ({"donor": "Once Mila"}, "aligned at the end"),
        ({"prompt": "Once a day in the old town. " + OWN, "answer": "a", "other": "e"}, "aligned"),
    ],
)
def test_prompts_that_do_not_fit_say_why(bundle, link, line):
    app = open_part("transformer", "patching", **PROMPTS | link)
    fine(app)
    assert line in boxes(app)


def map_of(shares: list[float], other=None) -> patching.Map:
    """A map of two tokens, of which the first is swapped."""
    sites = {Site("stream", layer, 0): share for layer, share in enumerate(shares)}
    return patching.Map((1, 2), (3, 2), (0, 1), sites | (other or {}), len(shares) - 1, ("a", "b"))


@given(st.lists(st.floats(-3, 3, allow_nan=False), min_size=1, max_size=8))
def test_the_question_asks_for_the_first_row_that_carries_half(shares):
    shares = [*shares, 1.0]
    first = next(layer for layer, share in enumerate(shares) if share >= 0.5)
    asked = patching.question(map_of(shares))
    assert (asked is None) == (first in (0, len(shares) - 1))
    if asked is not None:
        assert asked.values[asked.right] == (first,)
        assert {value for (value,) in asked.values} == {0, first, len(shares) - 1}


@given(st.integers(1, 29))
def test_of_many_rows_those_near_the_jump_are_right_and_no_others(jump):
    asked = patching.question(map_of([0.01 * (row < jump) or 0.9 for row in range(31)]))
    right = set()
    for row in range(31):
        far = [abs(row - value) for (value,) in asked.values]
        if far[asked.right] == min(far):
            right.add(row)
        assert far.count(min(far)) == 1
    near = range(jump - patching.SPAN, jump + patching.SPAN + 1)
    assert right == {row for row in near if 0 <= row <= 30}
    assert str(patching.SPAN) in asked.text and "31" in asked.text


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3))
def test_the_swapped_word_is_no_finding(word, head, later):
    other = {Site("mlp", 0, 1): word, Site("head", 1, 0, 3): head, Site("mlp", 1, 1): later}
    told = patching.strongest(map_of([0.0, 1.0], other))
    if max(head, later) < patching.LEAST_MOVED:
        assert told == patching.words.unmoved
    else:
        assert f"{written(max(head, later))} of the way" in told


def test_the_swapped_word_holds_the_answer_and_then_pushes_a_little_the_other_way():
    real = engine.load("tiny-world-gpt")
    ids = [
        tuple(real.tokenizer.encode_from_start(text))
        for text in (patching.words.own, patching.words.donor)
    ]
    pair = tuple(int(patching.reading(real, one).logits.argmax()) for one in ids)
    sites_map = patching.whole(real, *ids, pair)
    assert sites_map.sites[Site("stream", 1, 2)] > 0.5 > 0 > sites_map.sites[Site("stream", 2, 2)]
    said = [as_markdown(line) for line in patching.sentences(real, sites_map).split("\n\n")]
    assert "** book** stayed with → **Anna**" in said[0]
    assert "** candle** stayed with → **Samir**" in said[1]


def test_only_what_is_clicked_and_the_first_row_is_told_before_the_guess(bundle, covers):
    app = open_part("transformer", "patching", model="tiny-world-gpt", **PROMPTS)
    fine(app)
    own, donor = (ids_of(bundle, text) for text in (OWN, DONOR))
    pair = tuple(bundle.tokenizer.encode(token)[0] for token in "ae")
    known = (bundle, tuple(own), tuple(donor), pair)
    asked = patching.question(patching.whole(*known))
    grid = unpack_all(app, "cell_grid")[0]
    veiled = [text for line in grid["texts"][1:] for text in line]
    if asked is not None and veiled:
        assert set(veiled) == {patching.words.waits} and not grid["values"][1:].any()
    app = open_part("transformer", "patching", **PROMPTS, site="stream.1.0")
    told = unpack_all(app, "cell_grid")[0]
    assert patching.words.waits not in [text for line in told["texts"] for text in line]


KINDS = {
    "as GPT-2": {},
    "no norms": {"norm": "none"},
    "rms, no biases": dict(norm_kind="rms", bias=False, qkv_bias=False),
    "behind": {"norm": "post"},  # which has a lens and no ledger
}


def pictures(app) -> list[dict]:
    """What each picture of matrices was sent: of the lens, then of the ledger."""
    every = [part.proto for part in app.get("bidi_component")]
    found = [unpack(one.bytes) for one in every if one.component_name == "llmviz_matrix_view"]
    for picture in found:
        picture["named"] = {one["name"]: one for one in picture["matrices"]}
    return found


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS.keys())
def test_every_cell_is_what_its_arithmetic_says(options, tmp_path, monkeypatch):
    make_checkpoint(tmp_path, **options)
    use(monkeypatch, tmp_path)
    bundle = engine.load("tiny-world-gpt")
    ids = ids_of(bundle, TEXT)
    lens = logit_lens(bundle.model, ids)
    best = lens.tokens[1, 2].tolist()
    entry = None
    if options.get("norm") != "post":
        place = lens.tokens[-1, 2].tolist()
        entries = logit_ledger(bundle.model, ids, place[0], None, 2).entries
        entry = next(one for one in entries if one[:3] == ("mlp", 1, -1))
    for link in ({}, {"parts": "layers"}) if entry else ({},):
        app = open_part("transformer", "stream", text=TEXT, point="1.2", share="mlp.1", **link)
        fine(app)
        found = pictures(app)
        for picture in found:
            named = picture["named"]
            shown = {name for row in picture["layout"] for name in row}
            assert set(named) <= shown
            for one in picture["matrices"]:
                if one["op"] is not None:
                    of = [named[name]["values"] for name in one["op"]["of"]]
                    expected = computed(one["op"], of)
                    np.testing.assert_allclose(one["values"], expected, atol=2e-4, rtol=2e-4)
        chances = found[0]["named"]["p"]
        np.testing.assert_allclose(chances["values"][0], lens.probabilities[1, 2], rtol=1e-4)
        assert len(chances["colLabels"]) == len(best)
        if entry is None:
            assert len(found) == 1
            continue
        wanted = entry.value
        if link:  # the layer's bias is within its bar
            wanted += sum(one.value for one in entries if one[:3] == ("mlp_bias", 1, -1))
        assert found[1]["named"]["share"]["values"].item() == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("parts", ["all", "layers"])
@pytest.mark.parametrize("against", [None, 7])
def test_every_bar_opens_and_their_shares_add_up(bundle, parts, against):
    known = (bundle, tuple(ids_of(bundle, TEXT)), 5, against, 2)
    found, total = ledger.ledger_of(*known), 0.0
    entries = ledger.drawn(found, parts)
    for entry in entries:
        assert ledger.opened_entry(ledger.code_of(entry), entries) == entry
        within = ledger.within(found, entry, folded=entries is not found.entries)
        value = ledger.picture_of(*known, within, entry[:3]).matrix("share").values.item()
        assert value == pytest.approx(entry.value, abs=1e-4)
        total += value
    assert total == pytest.approx(found.logit, abs=1e-3)


@pytest.mark.parametrize("code", ["", "head.9.9", "attention.0", "x", "head..", "mlp.0.0"])
def test_a_part_that_is_not_there_is_the_one_that_added_most(bundle, code):
    app = open_part("transformer", "stream", text=TEXT, share=code)
    fine(app)
    ids = tuple(ids_of(bundle, TEXT))
    best = int(logit_lens(bundle.model, ids).tokens[-1, -1, 0])
    entries = logit_ledger(bundle.model, ids, best).entries
    most = max(entries, key=lambda entry: entry.value)
    assert ledger.opened_entry(code, entries) == most
    values = pictures(app)[1]["named"]["share"]["values"]
    assert values.item() == pytest.approx(most.value, abs=1e-4)


def test_a_link_keeps_the_cells_of_both(bundle):
    app = open_part("transformer", "stream", text=TEXT, readcell="logits.0.3", sharecell="part.0.2")
    fine(app)
    assert [one["pinned"] for one in pictures(app)] == [["logits", 0, 3], ["part", 0, 2]]
    app = open_part("transformer", "stream", text=TEXT, readcell="logits.9.9", sharecell="x")
    fine(app)
    assert [one["pinned"] for one in pictures(app)] == [None, None]


# ---- one block


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 9),
    st.sampled_from([None, 1, 3, 9]),
    st.sampled_from([1, 2, 4]),
    st.sampled_from(["causal", "none"]),
)
def test_what_a_mask_hides_is_what_is_said(tokens, window, kv_heads, mask):
    window = window if mask == "causal" else None
    config = GPTConfig(
        n_head=4, n_kv_head=kv_heads, n_embd=8, context_length=9, window=window, mask=mask
    )
    say = Captions(config, tokens, 0, 0, 0.5, unmixed=False)
    ahead = mask == "causal" and tokens > 1
    told = say.caption("scores", "pre")
    assert ("must not see later tokens" in told) == ahead
    assert ("or more places back" in told) == bool(window and tokens > window)
    shapes = say.caption("qkv", "pre")
    assert f"(1, 4, {tokens}, 2)" in shapes
    assert (f"keys and values (B, {kv_heads}, T, D)" in shapes) == (kv_heads < 4)


def test_what_a_unit_writes_names_the_norms_that_there_are():
    for norm in NORMS:
        assert ("norms behind it" in unit_words.writes_text[norm]) == (norm == "post")


# ---- the stream


def lens_with(agrees: list[bool], first: list[int] = (0,)) -> Lens:
    column = torch.tensor(agrees)[:, None]
    blank = torch.zeros(len(agrees), len(first))
    tokens = torch.tensor(first).expand(len(agrees), -1)[..., None]
    return Lens(blank[..., None], tokens, blank, column, blank, blank[..., None])


@given(st.lists(st.booleans(), max_size=6))
def test_the_row_from_which_on_an_answer_stands_is_the_right_one(before):
    agrees = [*before, True]
    told, last = stream.settled(lens_with(agrees), 0), len(agrees) - 1
    from_on = next(at for at in range(len(agrees)) if all(agrees[at:]))
    if from_on == 0:
        assert "embeddings alone" in told
    elif from_on == last:
        assert "One layer earlier another token" in told
    else:
        assert f"“after layer {from_on - 1}”" in told


@given(st.lists(st.booleans(), min_size=1, max_size=9), st.booleans())
def test_a_first_row_that_repeats_is_explained_by_a_tied_head_alone(same, tied):
    ids = tuple(range(len(same)))
    first = [i if one else i + 1 for i, one in zip(ids, same, strict=True)]
    told = stream.repeated(lens_with([True], first), ids, tied=tied)
    assert bool(told) == (tied and 2 * sum(same) > len(same))
    if told:
        assert (f"{sum(same)} of {len(same)} column" in told) == (not all(same))


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_a_final_norm_is_named_where_there_is_one(norm, tmp_path, monkeypatch):
    make_checkpoint(tmp_path, norm=norm)
    use(monkeypatch, tmp_path)
    app = open_part("sampling", "loop", prompt=TEXT)
    fine(app)
    board = sent(app, "token_loop")
    assert ("final norm" in board["words"]["row"]) == (norm == "pre")
    assert ("final norm" in board["rounds"][0]["lines"][0]) == (norm == "pre")


# ---- the loop


@given(st.integers(1, 60), st.integers(1, 12), st.booleans())
def test_each_line_about_work_has_its_noun(tokens, rounds, cached):
    for line in loop.work_lines(tokens, rounds, cached=cached):
        assert not re.search(r"\b1 vectors\b", line) and "1 token in each" not in line


# ---- two halves


ends = SimpleNamespace(special_tokens={"<|endoftext|>": 0}, decode=lambda ids: f"w{ids[0]}")


def decoded(written: list[int]) -> Decoding:
    best = np.array(written)[:, None]
    return Decoding((0, *written[:-1]), best, np.ones_like(best, dtype=float))


@given(
    st.lists(st.integers(1, 3), max_size=5),
    st.lists(st.integers(1, 3), max_size=7),
    st.booleans(),
    st.sampled_from([None, 0.5, 1.0]),
)
def test_where_two_ways_part_is_told_as_it_is(target, own, ended, exact):
    right, written = (*target, 0), [*own, 0] if ended else [*own, 1]
    forced = decoded([*target, 0])
    found = teacher.Both(right, forced, decoded(written), 0.1)
    card = {} if exact is None else {"score": {"exact": exact}}
    bundled = SimpleNamespace(tokenizer=ends, card=card)
    told = as_markdown(teacher.report(found, bundled, [0.7]))
    at = found.parting
    if at is None:
        assert ("kept from it in training" in told) == (exact is not None) and "nan" not in told
        assert (halves_words.never_other in told) == (exact == 1.0)
        return
    assert re.match(rf"\*\*(The first mistake is|They differ) at step {at + 1}\b", told)
    stops = at < len(written) and written[at] == 0
    assert ("on its own it stops there" in told) == (stops and at < len(target))
    assert "go on from `⟨end⟩`" not in told
    for wrong, of in re.findall(r"(\d+) of (\d+)", told):
        assert int(wrong) <= int(of)


def test_the_parts_of_a_deep_model_are_tried_at_the_last_token_once_asked_for(
    bundle, monkeypatch, tmp_path
):
    make_real(tmp_path, layers=patching.DEEP + 1)
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path))
    monkeypatch.setattr(patching, "SLICE", 60.0)
    typed = {"answer": " the", "other": " and"}
    app = open_part("transformer", "patching", model="smollm2", show="1", **typed)
    fine(app)
    (only,) = unpack_all(app, "cell_grid")
    assert len(only["values"]) == patching.DEEP + 2  # the stream alone
    (begin,) = [button for button in app.button if "Try all" in button.label]
    begin.click().run()
    app.run()
    fine(app)
    real = engine.load("smollm2")
    own, donor = (
        read_prompt(real.model, ids_of(real, text))
        for text in (patching.words.real_own, patching.words.real_donor)
    )
    parts = unpack_all(app, "cell_grid")[-1]["values"]
    assert parts.shape == (patching.DEEP + 1, 10)
    pair = [real.tokenizer.encode(text)[0] for text in typed.values()]
    start, goal = (float(read.logits[pair[1]] - read.logits[pair[0]]) for read in (own, donor))
    for layer, column in ((0, 0), (5, 8), (12, 9)):
        site = Site("mlp", layer, 0) if column == 9 else Site("head", layer, 0, column)
        logits = patch(real.model, own, donor, [site])
        moved = (float(logits[pair[1]] - logits[pair[0]]) - start) / (goal - start)
        assert parts[layer, column] == pytest.approx(np.clip(moved, -9.99, 9.99), abs=5e-3)
