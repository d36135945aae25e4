"""The lesson "Inside the transformer": what it draws is what the models compute."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from llmviz.course.lessons.transformer import params
from llmviz.course.lessons.transformer.patching import chapter as patching
from llmviz.course.lessons.transformer.patching import site_map
from llmviz.course.lessons.transformer.stream import ledger as ledger_part
from llmviz.course.lessons.transformer.stream.chapter import opened_cell
from llmviz.course.ui import engine
from llmviz.course.ui.model_on_text import names_of
from llmviz.course.ui.token_choice import token_of
from llmviz.course.ui.two_prompts import written
from llmviz.interpretability.attribution import Entry, FrozenNorm, Ledger, logit_ledger
from llmviz.interpretability.lens import logit_lens
from llmviz.interpretability.patching import Site, patch, read_prompt
from tests.pages.conftest import use
from tests.pages.harness import ODD_TEXTS, boxes, charts, fine, open_part, prose_of, sent
from tests.pages.small_model import HEADS, LAYERS, ids_of, logits_of, make_checkpoint

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


@pytest.mark.parametrize("kind", ["entropy", "agreement"])
def test_the_colour_is_what_its_name_says(bundle, kind):
    app = open_part("transformer", "stream", text=TEXT, lens=kind)
    grid, lens = sent(app, "cell_grid"), logit_lens(bundle.model, ids_of(bundle, TEXT))
    wanted = lens.entropy if kind == "entropy" else lens.of_last
    np.testing.assert_array_equal(grid["values"], wanted.numpy())
    if kind == "entropy":
        assert grid["limit"] == pytest.approx(np.log(bundle.model.vocab_size))
    else:
        np.testing.assert_array_equal(grid["strong"], lens.agrees.numpy())


def test_a_cell_of_the_link_opens_its_ten_best(bundle):
    app = open_part("transformer", "stream", text=TEXT, point="1.2")
    assert sent(app, "cell_grid")["chosen"] == [1, 2]
    lens = logit_lens(bundle.model, ids_of(bundle, TEXT))
    assert charts(app)[0]["data"][0]["x"] == pytest.approx(lens.probabilities[1, 2].tolist())


@given(st.text(max_size=12), st.integers(1, 9), st.integers(1, 9))
def test_any_cell_of_a_link_is_one_that_exists(written, points, tokens):
    row, column = opened_cell(written, points, tokens)
    assert 0 <= row < points and 0 <= column < tokens


@pytest.mark.parametrize("parts", ["all", "layers"])
@pytest.mark.parametrize("against", ["", "a"])
def test_the_waterfall_ends_at_the_models_own_logit(bundle, parts, against):
    app = open_part("transformer", "stream", text=TEXT, credit="e", against=against, parts=parts)
    fine(app)
    logits, one = logits_of(bundle, TEXT), bundle.tokenizer.encode
    wanted = logits[one("e")[0]] - (logits[one("a")[0]] if against else 0)
    bars = charts(app)[1]["data"][0]
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
    assert "the model's answer is" in prose_of(app) and "It is a sum" not in prose_of(app)


@pytest.mark.parametrize("asked", ["names-gru", "pairs-seq2seq", "nowhere"])
def test_a_model_that_is_no_transformer_is_replaced_and_named(asked):
    app = open_part("transformer", "stream", model=asked)
    fine(app)
    assert f"{asked} cannot be used here" in boxes(app)
    assert "tiny-world-gpt" in boxes(app)
    assert "model" not in app.query_params or app.query_params["model"] != [asked]


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=list(ODD_TEXTS))
def test_odd_texts_leave_no_error(bundle, text):
    app = open_part("transformer", "stream")
    app.session_state["shared.text"] = text
    app.run()
    fine(app)


numbers = st.floats(-20, 20, allow_nan=False)


@pytest.mark.parametrize("point", ["", "1.0"])
def test_another_column_covers_no_part_anew_and_the_end_is_about_the_whole_text(
    bundle, covers, point
):
    app = open_part("transformer", "stream", text=TEXT)
    assert len(charts(app)) == 1 and "It is a sum" not in prose_of(app)
    app.radio[0].set_value(0).run()
    app.session_state["transformer.point"] = point
    app.run()
    fine(app)
    assert len(charts(app)) == 2
    ids = ids_of(bundle, TEXT)
    lens = logit_lens(bundle.model, ids)
    token = int(lens.tokens[-1, -1, 0])
    found = logit_ledger(bundle.model, ids, token)
    end = [block.proto.body for block in app.get("html") if "<strong>Try:" in block.proto.body][-1]
    assert f"The logit of this answer is {ledger_part.written(found.logit)}." in end
    heads = sum(entry.value for entry in found.entries if entry.kind == "head")
    assert f"{ledger_part.written(heads)} from the heads" in end


@given(st.lists(st.tuples(st.sampled_from(sorted(ledger_part.words.part_names)), numbers)))
def test_the_question_of_the_ledger_has_one_right_answer(drawn):
    entries = [Entry(kind, 0, 0, value) for kind, value in drawn if kind != "attention"]
    total = sum(entry.value for entry in entries)
    made = Ledger(tuple(entries), FrozenNorm("none", 1.0), total)
    asked = ledger_part.question(made, "the logit", "here")
    sums = {}
    for entry in entries:
        group = next(g for g, kinds in ledger_part.GROUPS.items() if entry.kind in kinds)
        sums[group] = sums.get(group, 0.0) + entry.value
    if asked is None:
        best = sorted(sums.values())[-2:]
        assert len(best) < 2 or abs(best[0] - best[1]) < 0.0101
    else:
        right = asked.answers[asked.right]
        assert right == ledger_part.words.kinds[max(sums, key=sums.__getitem__)]
    if entries:
        folded = ledger_part.folded(entries)
        assert sum(e.value for e in folded) == pytest.approx(total, abs=1e-6)
        for shown in (entries, folded):
            line = ledger_part.summary(made, shown, "the logit", "here")
            most = max(entry.value for entry in shown)
            least = min(entry.value for entry in shown)
            assert ("most was subtracted" in line) == (least < 0)
            assert ("Most was added" in line) == (most > 0 or least >= 0)


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


def test_the_text_says_what_the_grid_shows():
    app = open_part("transformer", "stream")
    bundled = engine.load("tiny-world-gpt")
    ids = bundled.tokenizer.encode_from_start(params.TEXT)
    lens = logit_lens(bundled.model, ids)
    assert f"In {int(lens.agrees[-2].sum())} of {len(ids)} columns the last row" in prose_of(app)


# ---- patching

OWN, DONOR = "Once Anna had a key. It", "Once Anna had a dog. It"
PROMPTS = {"prompt": OWN, "donor": DONOR, "answer": "a", "other": "e"}


def test_the_map_is_one_patch_a_cell(bundle):
    app = open_part("transformer", "patching", **PROMPTS)
    fine(app)
    model = bundle.model
    own, donor = (read_prompt(model, ids_of(bundle, text)) for text in (OWN, DONOR))
    a, e = (bundle.tokenizer.encode(token)[0] for token in "ae")
    start, goal = (float(one.logits[e] - one.logits[a]) for one in (own, donor))
    values, places = sent(app, "cell_grid")["values"], min(len(own.ids), len(donor.ids))
    assert values.shape == (LAYERS + 1 + LAYERS * HEADS + LAYERS, places)
    sites = [Site("stream", layer, 0) for layer in range(LAYERS + 1)]
    sites += [Site("head", layer, 0, head) for layer in range(LAYERS) for head in range(HEADS)]
    sites += [Site("mlp", layer, 0) for layer in range(LAYERS)]
    for row, site in zip(values, sites, strict=True):
        for column, value in enumerate(row):
            one = site._replace(back=places - 1 - column)
            logits = patch(model, own, donor, [one])
            moved = (float(logits[e] - logits[a]) - start) / (goal - start)
            assert value == pytest.approx(np.clip(moved, -9.99, 9.99), abs=5e-3)
    assert values[LAYERS, -1] == pytest.approx(1, abs=1e-4)  # after the last layer: all of it


def test_a_new_map_shows_how_far_it_is(bundle, monkeypatch):
    """A place a rerun: a bar with the share that is known, and no map before all of it is."""
    monkeypatch.setattr(patching, "SLICE", 0.0)
    site_map.growing.clear()
    app = open_part("transformer", "patching", **PROMPTS)
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
    assert not app.get("progress") and sent(app, "cell_grid")["values"].size


def test_a_cell_of_the_link_opens_what_came_out(bundle):
    app = open_part("transformer", "patching", **PROMPTS, site="head.1.0.2")
    fine(app)
    own, donor = (read_prompt(bundle.model, ids_of(bundle, text)) for text in (OWN, DONOR))
    logits = [own.logits, patch(bundle.model, own, donor, [Site("head", 1, 0, 2)]), donor.logits]
    for bars, one in zip(charts(app)[0]["data"], logits, strict=True):
        assert set(np.round(bars["y"], 5)) <= set(np.round(one.softmax(-1).tolist(), 5))
    assert sent(app, "cell_grid")["chosen"] == [LAYERS + 1 + HEADS + 2, len(own.ids) - 1]


@pytest.mark.parametrize("site", ["head.9.0.0", "stream.0", "x", "head.1.0", "mlp.1.0.3", "..."])
def test_a_site_that_is_not_there_is_the_strongest_head(bundle, site):
    app = open_part("transformer", "patching", **PROMPTS, site=site)
    fine(app)
    grid = sent(app, "cell_grid")
    heads = grid["values"][LAYERS + 1 : LAYERS + 1 + LAYERS * HEADS]
    row, column = grid["chosen"]
    assert grid["values"][row, column] == heads.max()


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


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=list(ODD_TEXTS))
def test_odd_prompts_leave_no_error(bundle, text):
    app = open_part("transformer", "patching")
    app.session_state["transformer.prompt"] = text
    app.run()
    fine(app)


@given(st.lists(st.floats(-3, 3, allow_nan=False), min_size=1, max_size=8), st.data())
def test_the_question_of_the_map_has_one_right_answer(shares, data):
    names = data.draw(st.lists(st.sampled_from("abc"), min_size=len(shares), max_size=len(shares)))
    sites = {Site("stream", 1, len(shares) - 1 - i): share for i, share in enumerate(shares)}
    asked = site_map.question(site_map.Map((), (), (0, 1), sites, 2, tuple(names)))
    best = max(shares)
    alike = [share for share in shares if written(share) == site_map.written(best)]
    if asked is None:
        assert len(alike) > 1 or len(shares) < 2 or best < site_map.LEAST_MOVED
        return
    assert len(alike) == 1 and best > 0 and len(asked.answers) == min(4, len(shares))
    at = shares.index(best)
    name, back = names[at], len(shares) - 1 - at
    several = f"“{name}”, {f'{back} before the last' if back else 'the last'} token"
    assert asked.answers[asked.right] == (several if names.count(name) > 1 else f"“{name}”")
    assert "stream before layer 1" in asked.text


@given(*[st.lists(st.floats(-3, 3, allow_nan=False), min_size=2, max_size=2)] * 3)
def test_what_moves_farthest_is_said_and_where_nothing_moves_that(stream, head, mlp):
    sites = {
        Site(kind, 1 if kind == "stream" else 0, back): shares[back]
        for kind, shares in (("stream", stream), ("head", head), ("mlp", mlp))
        for back in range(2)
    }
    all_sites = site_map.Map((), (), (0, 1), sites, 2, ("a", "b"))
    told, end = site_map.strongest(all_sites), site_map.end(all_sites)
    for kind, shares in (("head", head), ("feed-forward output", mlp)):
        assert (f"No single {kind} moves" in told) == (max(shares) < site_map.LEAST_MOVED)
    assert bool(end["stream"]) == (max(stream) >= site_map.LEAST_MOVED)
    best = max(*head, *mlp)
    if best >= site_map.LEAST_MOVED:
        assert f"{written(best)} of the way." in end["part"]
    else:
        assert "No single head or feed-forward output" in end["part"]


def test_another_cell_of_the_map_covers_nothing_anew(bundle, covers):
    app = open_part("transformer", "patching", **PROMPTS)
    fine(app)
    assert not charts(app) and "The preference is the logit of" in prose_of(app)
    if app.radio:
        app.radio[0].set_value(0).run()
    app.session_state["transformer.site"] = "head.1.0.2"
    app.run()
    fine(app)
    assert len(charts(app)) == 1 and "layer 1 · head 2, at" in prose_of(app)
    assert "One vector of the second prompt" in prose_of(app)


def test_the_question_of_one_layer_names_the_row_that_there_is():
    sites = {Site("stream", 1, back): 1.0 - back for back in range(2)}
    asked = site_map.question(site_map.Map((), (), (0, 1), sites, 1, ("a", "b")))
    assert "“stream after layer 0”" in asked.text and "layer 1" not in asked.text


def test_equal_vectors_are_not_said_to_have_equal_words_before_them(bundle):
    """Before the first layer a token's vector is the same whatever stands before it."""
    last = len(ids_of(bundle, OWN)) - 1
    assert ids_of(bundle, OWN)[-1] == ids_of(bundle, DONOR)[-1] and last > 0
    told = prose_of(open_part("transformer", "patching", **PROMPTS, site="stream.0.0"))
    assert "Both vectors are the same, so nothing changes." in told
    assert "stands before this place" not in told
