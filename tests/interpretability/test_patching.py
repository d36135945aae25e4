"""Patching: everything gives the other prompt's output, nothing the own; maps are their cells."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from llmviz.interpretability.growing_map import GrowingMap
from llmviz.interpretability.patching import (
    KINDS,
    Site,
    aligned,
    all_sites,
    patch,
    patch_by_position,
    patch_map,
    read_prompt,
)
from llmviz.models import BERT, BERTConfig
from llmviz.trace import record
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, OTHER, gpt

ALL = (
    OPTIONS
    | NO_SUM
    | {
        "sees ahead": dict(mask="off_by_one"),
        "no mask": dict(mask="none"),
        "softmax first": dict(softmax_before_mask="leave"),
    }
)
LONG = (8, 8, 1, 3, 7, 2, 5, 9, 4)


@pytest.mark.parametrize("options", ALL.values(), ids=ALL.keys())
def test_everything_is_the_other_prompt_and_nothing_the_own(options):
    model = gpt(**options)
    own, donor = read_prompt(model, IDS), read_prompt(model, OTHER)
    with torch.inference_mode():
        expected = [model(torch.tensor([ids]))[0][0, -1] for ids in (IDS, OTHER)]
    for found, logits in zip((own.logits, donor.logits), expected, strict=True):
        torch.testing.assert_close(found, logits)
    torch.testing.assert_close(patch(model, own, donor, []), own.logits)
    torch.testing.assert_close(patch(model, own, own, all_sites(model, 6)), own.logits)
    torch.testing.assert_close(patch(model, own, donor, all_sites(model, 6)), donor.logits)
    for layer in range(4):  # the stream at all places is all that a later layer sees
        sites = [Site("stream", layer, back) for back in range(6)]
        torch.testing.assert_close(patch(model, own, donor, sites), donor.logits)
    last = patch(model, own, donor, [Site("stream", 3, 0)])
    torch.testing.assert_close(last, donor.logits)


@pytest.mark.parametrize("options", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("other", [OTHER, LONG, (9, 4)])
def test_the_map_is_one_patch_a_cell(options, other):
    model = gpt(**options)
    own, donor, tokens = read_prompt(model, IDS), read_prompt(model, other), [5, 11]
    found = patch_map(model, own, donor, tokens)
    places = aligned(own, donor)
    assert found.stream.shape == (4, places, 2)
    assert found.head.shape == (3, 2, places, 2) and found.mlp.shape == (3, places, 2)
    for site in all_sites(model, places):
        cell = patch(model, own, donor, [site])[tokens]
        there = (site.layer, site.back) if site.head < 0 else (site.layer, site.head, site.back)
        torch.testing.assert_close(getattr(found, site.kind)[there], cell, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("head", range(4))
def test_a_head_is_what_the_output_projection_gets_from_it(head):
    """Written out: the donor's D numbers of one head, and the rest of the pass by hand."""
    model = gpt(n_layer=1, n_head=4)
    own, donor = read_prompt(model, IDS), read_prompt(model, OTHER)
    block = model.blocks[0]
    with torch.inference_mode(), record(["embed", "blocks.0.attn.concat"]) as trace:
        model(torch.tensor([IDS]))
    with torch.inference_mode():
        concat = trace["blocks.0.attn.concat"].clone()
        own_columns = slice(4 * head, 4 * head + 4)
        concat[0, -1, own_columns] = donor.concat[0, -1, own_columns]
        x = trace["embed"] + block.attn.projection(concat)
        x = x + block.mlp(block.norm2(x))
        expected = model.head(model.norm_final(x))[0, -1]
    found = patch(model, own, donor, [Site("head", 0, 0, head)])
    assert not torch.allclose(found, own.logits, atol=1e-3)
    torch.testing.assert_close(found, expected)


def test_some_kinds_alone_and_a_place_at_a_time():
    model = gpt()
    own, donor = read_prompt(model, IDS), read_prompt(model, OTHER)
    found = patch_map(model, own, donor, [5], kinds=["mlp"])
    assert found.stream.isnan().all() and found.head.isnan().all() and found.mlp.isfinite().all()
    places = [sites for sites, _ in patch_by_position(model, own, donor, [5])]
    assert [{site.back for site in sites} for sites in places] == [{back} for back in range(6)]
    assert sorted(site for sites in places for site in sites) == sorted(all_sites(model, 6))


def test_a_bert_is_patched_as_well():
    torch.manual_seed(0)
    model = BERT(BERTConfig(vocab_size=19, context_length=10, n_layer=2, n_head=2, n_embd=16))
    model.eval()
    own, donor = read_prompt(model, IDS), read_prompt(model, OTHER)
    sites = all_sites(model, 6)
    torch.testing.assert_close(patch(model, own, donor, sites), donor.logits)
    found = patch_map(model, own, donor, [3])
    cell = patch(model, own, donor, [Site("mlp", 0, 4)])
    torch.testing.assert_close(found.mlp[0, 4], cell[[3]], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("site", "message"),
    [
        (Site("thought", 0, 0), "kind must be one of stream, head, mlp; got 'thought'"),
        (Site("mlp", 3, 0), "layer must be from 0 to 2; got 3"),
        (Site("stream", 4, 0), "layer must be from 0 to 3; got 4"),
        (Site("head", 0, 0, 2), "head must be from 0 to 1; got 2"),
        (Site("head", 0, 0), "head must be from 0 to 1; got -1"),
        (Site("mlp", 0, 2), "back must be from 0 to 1, the places that both prompts have; got 2"),
    ],
)
def test_sites_that_are_not_there_are_refused(site, message):
    model = gpt()
    own, donor = read_prompt(model, IDS), read_prompt(model, (9, 4))
    with pytest.raises(ValueError, match=message):
        patch(model, own, donor, [site])
    with pytest.raises(ValueError, match="kind must be one of"):
        list(patch_by_position(model, own, donor, [1], kinds=["thought"]))


PAIR = (3, 7)


@pytest.fixture(scope="module")
def read():
    model = gpt(n_layer=2)
    return model, read_prompt(model, IDS), read_prompt(model, OTHER[2:])


def test_a_map_grows_to_what_each_site_alone_gives(read):
    model, own, donor = read
    grown, steps = GrowingMap(model, own, donor, PAIR, 24), 0
    while not grown.grow(0.0):
        steps += 1
        assert grown.known == len(grown.shares)
        assert {site.back for site in grown.shares} == set(range(steps))
    assert grown.known == grown.total and grown.places == 4
    assert set(grown.shares) == set(all_sites(model, 4))
    for site, share in grown.shares.items():
        every = own.logits, patch(model, own, donor, [site]), donor.logits
        start, alone, goal = (float(logits[PAIR[1]] - logits[PAIR[0]]) for logits in every)
        assert share == pytest.approx((alone - start) / (goal - start), abs=1e-4)
    assert grown.grow(0.0)  # nothing more happens


def test_a_map_of_some_kinds_in_small_batches_is_a_part_of_the_whole(read):
    model, own, donor = read
    whole, part = GrowingMap(model, own, donor, PAIR, 24), GrowingMap(*read, PAIR, 24, ["head"])
    whole.grow(math.inf)
    part.grow(math.inf)
    assert part.total == len(part.shares) == len(all_sites(model, 4, ["head"]))
    assert all(whole.shares[site] == pytest.approx(x, abs=1e-5) for site, x in part.shares.items())
    for at_once in (1, 3):
        rows = list(patch_by_position(model, own, donor, PAIR, KINDS, at_once))
        assert max(len(sites) for sites, _ in rows) <= at_once
        small = {
            site: row for sites, logits in rows for site, row in zip(sites, logits, strict=True)
        }
        for sites, logits in patch_by_position(model, own, donor, PAIR):
            for site, row in zip(sites, logits, strict=True):
                assert torch.allclose(small[site], row, atol=1e-5)


def test_at_most_some_places_and_none_twice_by_several_threads(read):
    grown = GrowingMap(*read, PAIR, 2)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: grown.grow(0.0), range(12)))
    assert done.count(False) == 1
    assert {site.back for site in grown.shares} == {0, 1}


def test_a_map_without_a_way_to_go_is_refused(read):
    model, own, _ = read
    with pytest.raises(ValueError, match="equally"):
        GrowingMap(model, own, own, PAIR, 24)
