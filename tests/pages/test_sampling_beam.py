"""The lesson on sampling: beam search beside greedy and beside every text there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.sampling import source
from llmviz.course.lessons.sampling.beam import chapter as beam
from llmviz.course.lessons.sampling.beam import exhaustive, searches, words
from llmviz.course.ui import engine
from llmviz.course.ui.model_picker import NO_MODEL_COMMAND
from llmviz.sampling import beam_search
from llmviz.tokenizers import CharTokenizer
from tests.pages import harness
from tests.pages.conftest import load_torch, use
from tests.pages.small_model import ids_of, make_checkpoint

PROMPT = "Mila found a ball"


def test_a_search_grows_in_slices_and_is_then_the_same(bundle, monkeypatch):
    """A token at a time with no time for more; the picture comes when the search is over."""
    link = {"prompt": PROMPT, "width": "3", "depth": "8"}
    whole = harness.sent(harness.open_part("sampling", "beam", **link), "beam_tree")
    searches._beam.clear()
    monkeypatch.setattr(beam, "SLICE", 0.0)
    app = harness.open_part("sampling", "beam", **link)
    harness.fine(app)
    assert harness.unpack_all(app, "beam_tree") == []
    assert "The search goes on …" in [one.value for one in app.caption]
    for _ in range(8):
        app.run()
        harness.fine(app)
    assert harness.sent(app, "beam_tree")["parents"] == whole["parents"]
    assert np.allclose(harness.sent(app, "beam_tree")["own"][1:], whole["own"][1:])


def test_beam_is_never_worse_than_greedy_and_says_by_how_much(bundle):
    app = harness.open_part("sampling", "beam", prompt=PROMPT, width="4", depth="5")
    harness.fine(app)
    tree = harness.sent(app, "beam_tree")
    best = tree["finals"][0]
    total = tree["total"][best]
    path, at = [], best
    while tree["parents"][at] is not None:
        path.append(tree["own"][at])
        at = tree["parents"][at]
    assert sum(path) == pytest.approx(total, abs=1e-4)
    assert f"{total:.2f}".replace("-", "−") in harness.prose_of(app)
    assert set(tree["statuses"]) <= {"kept", "finished", "pruned", "abandoned"}


@pytest.fixture
def speller(tmp_path, monkeypatch):
    """A model with few tokens is bundled beside the small one."""
    make_checkpoint(tmp_path)
    make_checkpoint(tmp_path, "names-gpt", CharTokenizer.train(["a bcdef"]))
    use(monkeypatch, tmp_path)
    load_torch()
    return engine.load("names-gpt")


def bars(app) -> dict:
    (figure,) = harness.charts(app)
    return figure


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
    trace = bars(app)["data"][0]
    shown = sorted({*range(1, 13), *places.values()})
    assert trace["x"] == pytest.approx([np.exp(totals[ordered[n - 1]]) for n in shown], rel=1e-4)
    notes = dict(zip(shown, trace["text"], strict=True))
    for place in shown:
        assert ("width" in notes[place]) == (place in places.values())
    assert "greedy" in notes[places[1]] or places[1] == places[2]
    assert ("Greedy choice finds this text" in harness.prose_of(app)) == (places[1] == 1)


def test_widths_that_find_the_best_are_named():
    text = as_markdown(exhaustive.beams_find((3, 4), 4, {3: 7}, 29, 1000))
    assert "from **3** to 4" in text and "203 continuations" in text
    assert "These do: 2, 4." in exhaustive.beams_find((2, 4), 4, {}, 29, 1000)
    assert "These do: 4." in exhaustive.beams_find((4,), 4, {4: 9}, 29, 1000)  # not "from 4 to 4"
    assert "up to 2 finds" in exhaustive.beams_find((), 2, {}, 29, 1000)


@pytest.mark.parametrize("begin", ["", "한", "a" * 300, "a\x00", "[x](y) $z$"])
def test_odd_beginnings_break_nothing(speller, begin):
    app = harness.open_part("sampling", "beam")
    box = next(box for box in app.text_input if box.label == words.exhaustive_beginning)
    box.set_value(begin).run()
    harness.fine(app)
    if begin == "":
        assert "starts from `<|endoftext|>` alone" in harness.boxes(
            app
        ) and words.exhaustive_nothing in harness.prose_of(app)
    if begin == "한":
        assert "does not know" in harness.boxes(app)


def test_texts_that_end_early_are_told_from_others(speller):
    said = source.read(speller, "a")
    stop = said.stop_id
    assert (
        exhaustive.written(said, [0, stop]) == exhaustive.written(said, [0]) + words.exhaustive_end
    )
    assert exhaustive.written(said, [stop]) == words.exhaustive_end


def test_without_a_small_model_the_page_says_how_to_make_one(bundle):
    app = harness.open_part("sampling", "beam")
    harness.fine(app)
    assert "The model names-gpt is not in this copy" in harness.boxes(app)
    assert NO_MODEL_COMMAND.format(name="names-gpt") in [block.value for block in app.code]
