"""The lesson on sampling: beam search beside greedy and beside every text there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.sampling import source
from llmviz.course.lessons.sampling.beam import chapter as beam
from llmviz.course.lessons.sampling.beam import words
from llmviz.course.ui import engine
from llmviz.course.ui.common import percent
from llmviz.course.ui.model_picker import NO_MODEL_COMMAND
from llmviz.sampling import beam_search
from llmviz.tokenizers import CharTokenizer
from tests.pages import harness
from tests.pages.conftest import load_torch, use
from tests.pages.small_model import ids_of, make_checkpoint


@pytest.fixture
def speller(tmp_path, monkeypatch):
    """A model with few tokens is bundled beside the small one."""
    make_checkpoint(tmp_path)
    make_checkpoint(tmp_path, "names-gpt", CharTokenizer.train(["a bcdef"]))
    use(monkeypatch, tmp_path)
    load_torch()
    return engine.load("names-gpt")


def test_the_find_of_every_width_is_looked_up_among_all_texts(speller):
    app = harness.open_part("sampling", "beam", begin="ab")
    harness.fine(app)
    ids, v = ids_of(speller, "ab"), speller.tokenizer.vocab_size
    stop = ids[0]
    # Every text of three tokens, by the chain rule and nothing else.
    all_tokens = list(itertools.product(range(v), repeat=3))
    with torch.inference_mode():
        rows = speller.model(torch.tensor([[*ids, *tokens] for tokens in all_tokens]))[0].double()
    logs = rows.log_softmax(-1)[:, len(ids) - 1 : -1]
    totals = {}
    for row, tokens in zip(logs, all_tokens, strict=True):
        kept = tokens[: tokens.index(stop) + 1] if stop in tokens else tokens
        totals[kept] = row[range(len(kept)), list(kept)].sum().item()
    ordered = sorted(totals, key=totals.get, reverse=True)
    assert f"{len(ordered):,} texts" in harness.prose_of(app)
    found = {
        w: tuple(beam_search(speller.model, ids, w, 3, stop_id=stop).tokens()) for w in range(1, 9)
    }
    places = {width: 1 + ordered.index(tokens) for width, tokens in found.items()}
    rows = harness.sent(app, "case_rows")["rows"]
    shown = sorted({*range(1, 13), *places.values()})
    values = [np.exp(totals[ordered[n - 1]]) for n in shown]
    assert [row["value"] for row in rows] == pytest.approx(values, rel=1e-4)
    texts = ("".join(text for text, _ in row["label"]) for row in rows)
    labels = dict(zip(shown, texts, strict=True))
    for place in shown:
        assert ("width" in labels[place]) == (place in places.values())
    assert "greedy" in labels[places[1]] or places[1] == places[2]


def test_the_tree_is_that_of_the_width_and_its_best_end_is_told(speller):
    app = harness.open_part("sampling", "beam", begin="ab", width="4")
    harness.fine(app)
    tree = harness.sent(app, "beam_tree")
    at = tree["finals"][0]
    total, path = tree["total"][at], 0.0
    while tree["parents"][at] is not None:
        path += tree["own"][at]
        at = tree["parents"][at]
    assert path == pytest.approx(total, abs=1e-4)
    assert f"which has {percent(float(np.exp(total)))}" in harness.prose_of(app)
    assert set(tree["statuses"]) <= {"kept", "finished", "pruned", "abandoned"}


def test_widths_that_find_the_best_are_named():
    text = as_markdown(beam.beams_find((3, 4), 4, {3: 7}, 29, 1000))
    assert "width of **3** to 4" in text and "203 continuations" in text
    assert "These do: 2, 4." in beam.beams_find((2, 4), 4, {}, 29, 1000)
    assert "These do: 4." in beam.beams_find((4,), 4, {4: 9}, 29, 1000)  # not "from 4 to 4"
    assert "up to 2 finds" in beam.beams_find((), 2, {}, 29, 1000)


def test_odd_beginnings_break_nothing(speller):
    app = harness.open_part("sampling", "beam")
    for begin in ("", "한", "a" * 300, "a\x00", "[x](y) $z$"):
        box = next(box for box in app.text_input if box.label == words.beginning)
        box.set_value(begin).run()
        harness.fine(app)
        said = harness.boxes(app)
        assert ("starts from `<|endoftext|>` alone" in said) == (begin == "")
        assert begin or words.nothing in harness.prose_of(app)
        assert begin != "한" or "does not know" in said


def test_texts_that_end_early_are_told_from_others(speller):
    said = source.read(speller, "a")
    stop = said.stop_id
    assert beam.written(said, [0, stop]) == beam.written(said, [0]) + words.mark
    assert beam.written(said, [stop]) == f"a{words.mark}"


def test_without_a_small_model_the_page_says_how_to_make_one(bundle):
    app = harness.open_part("sampling", "beam")
    harness.fine(app)
    assert "The model names-gpt is not in this copy" in harness.boxes(app)
    assert NO_MODEL_COMMAND.format(name="names-gpt") in [block.value for block in app.code]
