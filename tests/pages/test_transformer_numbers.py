"""Reading the stream: the arithmetic of the lens and of the ledger is that of the models."""

from __future__ import annotations

import numpy as np
import pytest

from llmviz.course.components import unpack
from llmviz.course.lessons.transformer.stream import ledger
from llmviz.course.ui import engine
from llmviz.interpretability.attribution import logit_ledger
from llmviz.interpretability.lens import logit_lens
from tests.pages.conftest import use
from tests.pages.harness import fine, open_part
from tests.pages.small_model import ids_of, make_checkpoint
from tests.pages.test_transformer_block import computed

TEXT = "Once Anna met Samir. Then"
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
