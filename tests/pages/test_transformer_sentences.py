"""Sentences of the lesson "Inside the transformer" that are computed: true at their edges."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.course.document.marks import as_markdown
from llmviz.course.lessons.sampling.loop import chapter as loop
from llmviz.course.lessons.transformer.block.drawing import Captions
from llmviz.course.lessons.transformer.halves import teacher
from llmviz.course.lessons.transformer.halves import words as halves_words
from llmviz.course.lessons.transformer.halves.model import Decoding
from llmviz.course.lessons.transformer.stream import chapter as stream
from llmviz.course.lessons.transformer.units import words as unit_words
from llmviz.interpretability.lens import Lens
from llmviz.models import GPTConfig
from llmviz.models.settings import NORMS
from tests.pages.conftest import use
from tests.pages.harness import fine, open_part, sent
from tests.pages.small_model import make_checkpoint

TEXT = "Once Anna met Samir. Then"


# ---- one block


@settings(max_examples=40, deadline=None)
@given(
    some.integers(1, 9),
    some.sampled_from([None, 1, 3, 9]),
    some.sampled_from([1, 2, 4]),
    some.sampled_from(["causal", "none"]),
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


@given(some.lists(some.booleans(), max_size=6))
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


@given(some.lists(some.booleans(), min_size=1, max_size=9), some.booleans())
def test_a_first_row_that_repeats_is_explained_by_a_tied_head_alone(same, tied):
    ids = tuple(range(len(same)))
    first = [i if one else i + 1 for i, one in zip(ids, same, strict=True)]
    told = stream.repeated(lens_with([True], first), ids, tied=tied)
    assert bool(told) == (tied and 2 * sum(same) > len(same))
    if told:
        assert f"In {sum(same)} of {len(same)} column" in told


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


@given(some.integers(1, 60), some.integers(1, 12), some.booleans())
def test_each_line_about_work_has_its_noun(tokens, rounds, cached):
    for line in loop.work_lines(tokens, rounds, cached=cached):
        assert not re.search(r"\b1 vectors\b", line) and "1 token in each" not in line


# ---- two halves


ends = SimpleNamespace(special_tokens={"<|endoftext|>": 0}, decode=lambda ids: f"w{ids[0]}")


def decoded(written: list[int]) -> Decoding:
    best = np.array(written)[:, None]
    return Decoding((0, *written[:-1]), best, np.ones_like(best, dtype=float))


@given(
    some.lists(some.integers(1, 3), max_size=5),
    some.lists(some.integers(1, 3), max_size=7),
    some.booleans(),
    some.sampled_from([None, 0.5, 1.0]),
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
        assert ("of the held-out" in told) == (exact is not None) and "nan" not in told
        assert (halves_words.never_other in told) == (exact == 1.0)
        return
    assert re.match(rf"\*\*(The first mistake is|They differ) at step {at + 1}\b", told)
    stops = at < len(written) and written[at] == 0
    assert ("On its own it ends there" in told) == (stops and at < len(target))
    assert "on its own it reads `⟨end⟩`" not in told
    for wrong, of in re.findall(r"(\d+) of (\d+)", told):
        assert int(wrong) <= int(of)
