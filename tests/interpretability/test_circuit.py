"""Path patching: all edges are the other prompt, none the own, one is what hooks make of it."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
import torch

from llmviz.interpretability import circuit
from llmviz.interpretability.attribution import logit_ledger, split_stream
from llmviz.interpretability.circuit import (
    Edge,
    GrowingCircuit,
    Part,
    all_edges,
    patch_edges,
    read_sums,
    senders,
)
from llmviz.interpretability.patching import Site, patch, read_prompt
from llmviz.models import build
from tests.interpretability.models import IDS, NO_SUM, OPTIONS, OTHER, gpt

ALL = OPTIONS | {"no mask": dict(mask="none"), "softmax first": dict(softmax_before_mask="leave")}
PAIR = (3, 7)


def read(model):
    return read_sums(model, IDS), read_sums(model, OTHER)


@pytest.mark.parametrize("options", ALL.values(), ids=ALL.keys())
def test_all_edges_are_the_other_prompt_and_none_the_own(options):
    model = gpt(**options)
    own, donor = read(model)
    with torch.inference_mode():
        expected = [model(torch.tensor([ids]))[0][0, -1] for ids in (IDS, OTHER)]
    found = patch_edges(model, own, donor, [all_edges(model), []])
    assert not torch.allclose(*expected, atol=1e-2)
    for row, logits in zip(found, reversed(expected), strict=True):
        torch.testing.assert_close(row, logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(patch_edges(model, own, own, [all_edges(model)])[0], own.logits)


# ---- one edge, by hooks of torch on the model's own modules


@contextmanager
def hooked(changes):
    """Inside the block each module reads what its function makes of its input."""
    with ExitStack() as stack:
        for module, change in changes:
            hook = module.register_forward_pre_hook(
                lambda _, args, change=change: (change(args[0]), *args[1:])
            )
            stack.callback(hook.remove)
        yield


def run(model, ids, *changes):
    with torch.inference_mode(), hooked(changes):
        return model(torch.tensor([ids]))[0][0, -1]


def seen_by(model, ids, module, *changes):
    """What a module reads."""
    kept = []

    def keep(x):
        kept.append(x.clone())
        return x

    run(model, ids, *changes, (module, keep))
    return kept[0]


def wrote(model, ids, part):
    """What a part adds to the stream."""
    if part.kind == "embed":
        return seen_by(model, ids, model.blocks[0])
    block, size = model.blocks[part.layer], model.config.head_size
    if part.kind == "mlp":
        with torch.inference_mode():
            return block.mlp(block.norm2(seen_by(model, ids, block.norm2)))
    columns = slice(part.head * size, (part.head + 1) * size)
    concat = seen_by(model, ids, block.attn.projection)
    with torch.inference_mode():
        return concat[..., columns] @ block.attn.projection.weight[:, columns].T


def by_hooks(model, edge, ids=IDS, other=OTHER):
    """Prompts of different length are aligned at the end; what has no other is left as it is."""
    sender, receiver = edge
    own, donor = wrote(model, ids, sender), wrote(model, other, sender)
    apart = torch.zeros_like(own)
    both = min(len(ids), len(other))
    apart[:, -both:] = donor[:, -both:] - own[:, -both:]

    def moved(x):
        return x + apart

    if receiver.kind == "logits":
        return run(model, ids, (model.norm_final, moved))
    block, size = model.blocks[receiver.layer], model.config.head_size
    if receiver.kind == "mlp":
        return run(model, ids, (block.norm2, moved))
    there = seen_by(model, ids, block.attn.projection, (block.norm1, moved))
    columns = slice(receiver.head * size, (receiver.head + 1) * size)

    def own_columns(x):
        x = x.clone()
        x[..., columns] = there[..., columns]
        return x

    return run(model, ids, (block.attn.projection, own_columns))


@pytest.mark.parametrize("name", ["default", "rms, rotary, swiglu", "shared keys", "experts"])
def test_each_edge_is_what_hooks_on_the_modules_make_of_it(name):
    model = gpt(**OPTIONS[name])
    own, donor = read(model)
    edges = all_edges(model)
    parts = senders(model)
    assert len(parts) == 1 + 3 * 3 and len(edges) == 2 * (1 + 4 + 7) + (3 + 6 + 9) + 10
    found = patch_edges(model, own, donor, [[edge] for edge in edges])
    moved = 0
    for edge, row in zip(edges, found, strict=True):
        torch.testing.assert_close(row, by_hooks(model, edge), atol=1e-4, rtol=1e-4)
        moved += not torch.allclose(row, own.logits, atol=1e-3)
    assert moved > len(edges) / 2


UNEQUAL = [(IDS, OTHER[2:]), (IDS[2:], OTHER), (IDS, (*OTHER, 2)), (IDS, (5,)), ((5,), OTHER)]


@pytest.mark.parametrize("options", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("prompts", UNEQUAL)
def test_prompts_of_different_length_are_aligned_at_the_end(options, prompts):
    model = gpt(**options)
    own, donor = (read_sums(model, ids) for ids in prompts)
    edges = all_edges(model)
    found = patch_edges(model, own, donor, [edges, [], *([edge] for edge in edges[::7])])
    torch.testing.assert_close(found[0], donor.logits, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found[1], own.logits, atol=1e-4, rtol=1e-4)
    if model.config.norm == "none":  # the hooks hang on the norms
        return
    for edge, row in zip(edges[::7], found[2:], strict=True):
        torch.testing.assert_close(row, by_hooks(model, edge, *prompts), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("prompts", UNEQUAL)
def test_all_edges_out_of_a_head_are_the_head_patched_where_both_prompts_have_a_place(prompts):
    model = gpt()
    own, donor = (read_sums(model, ids) for ids in prompts)
    readings = [read_prompt(model, ids) for ids in prompts]
    parts = [part for part in senders(model) if part.kind == "head"]
    sets = [[edge for edge in all_edges(model) if edge.sender == part] for part in parts]
    for part, row in zip(parts, patch_edges(model, own, donor, sets), strict=True):
        both = range(min(map(len, prompts)))
        sites = [Site("head", part.layer, back, part.head) for back in both]
        torch.testing.assert_close(row, patch(model, *readings, sites), atol=1e-4, rtol=1e-4)


# ---- the map of patching, and the ledger


@pytest.mark.parametrize("side", ["into", "out of"])
def test_all_edges_of_a_part_are_the_part_patched_at_every_place(side):
    model = gpt()
    own, donor = read(model)
    parts = [part for part in senders(model) if part.kind != "embed"]
    sets = [
        [
            edge
            for edge in all_edges(model)
            if (edge.receiver if side == "into" else edge.sender) == part
        ]
        for part in parts
    ]
    found = patch_edges(model, own, donor, sets)
    readings = read_prompt(model, IDS), read_prompt(model, OTHER)
    for part, row in zip(parts, found, strict=True):
        sites = [Site(part.kind, part.layer, back, part.head) for back in range(len(IDS))]
        torch.testing.assert_close(row, patch(model, *readings, sites), atol=1e-4, rtol=1e-4)


def test_a_direct_edge_to_the_logits_swaps_an_entry_of_the_ledger():
    """Without a norm the logits move by the entries' difference; with one, it is of the new sum."""
    kinds = {"head": ("head",), "mlp": ("mlp",), "embed": ("token", "position")}
    for options in (OPTIONS["waves, no norm"], {}):
        model = gpt(**options)
        own, donor = read(model)
        edges = [edge for edge in all_edges(model) if edge.receiver.kind == "logits"]
        found = patch_edges(model, own, donor, [[edge] for edge in edges])
        for (part, _), row in zip(edges, found, strict=True):
            if options:
                a, b = (
                    sum(
                        entry.value
                        for entry in logit_ledger(model, ids, PAIR[1], PAIR[0]).entries
                        if (entry.layer, entry.head) == (part.layer, part.head)
                        and entry.kind in kinds[part.kind]
                    )
                    for ids in (IDS, OTHER)
                )
                before = own.logits[PAIR[1]] - own.logits[PAIR[0]]
                after = row[PAIR[1]] - row[PAIR[0]]
                assert float(after - before) == pytest.approx(b - a, abs=1e-4)
                continue
            a, b = (
                sum(
                    vector
                    for kind, layer, head, vector in split_stream(model, ids).parts
                    if (layer, head) == (part.layer, part.head) and kind in kinds[part.kind]
                )
                for ids in (IDS, OTHER)
            )
            with torch.inference_mode():
                stream = split_stream(model, IDS).stream
                expected = model.head(model.norm_final(stream + b - a))
            torch.testing.assert_close(row, expected, atol=1e-4, rtol=1e-4)


# ---- a circuit that grows


def test_it_grows_to_what_each_edge_and_each_set_gives():
    model = gpt()
    own, donor = read(model)
    grown, edges = GrowingCircuit(model, own, donor, PAIR), all_edges(model)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: grown.grow(0.0), range(12)))
    while not grown.grow(0.0):
        assert grown.known == len(grown.effects) + len(grown.left) < grown.total
    assert set(grown.effects) == set(grown.order) == set(edges)

    def share(taken):
        logits = patch_edges(model, own, donor, [taken])[0]
        way = [float(one[PAIR[1]] - one[PAIR[0]]) for one in (own.logits, logits, donor.logits)]
        return (way[1] - way[0]) / (way[2] - way[0])

    for edge in edges:
        assert grown.effects[edge] == pytest.approx(share([edge]), abs=1e-3)
    sizes = [abs(grown.effects[edge]) for edge in grown.order]
    assert sizes == sorted(sizes, reverse=True)
    assert len(grown.left) == len(edges) + 1
    assert grown.left[0] == pytest.approx(0, abs=1e-4)
    assert grown.left[-1] == pytest.approx(1, abs=1e-4)
    for number in (3, 20, 40):
        kept = grown.order[:number]
        assert grown.left[number] == pytest.approx(grown.left_with(kept), abs=1e-3)
        assert grown.left[number] == pytest.approx(1 - share(grown.order[number:]), abs=1e-3)


def test_what_cannot_be_patched_is_refused(monkeypatch):
    model = gpt()
    own, donor = read(model)
    with pytest.raises(ValueError, match="equally"):
        GrowingCircuit(model, own, own, PAIR)
    back = Edge(Part("mlp", 1), Part("mlp", 0))
    with pytest.raises(ValueError, match="the model has no edge"):
        patch_edges(model, own, donor, [[back]])
    monkeypatch.setattr(circuit, "MOST_EDGES", 10)
    with pytest.raises(ValueError, match="at most 10 edges are patched here; the model has 52"):
        GrowingCircuit(model, own, donor, PAIR)
    for options in NO_SUM.values():
        with pytest.raises(ValueError, match="residual stream that is only added to"):
            read_sums(gpt(**options), IDS)
    without = build("bigram", dict(vocab_size=19, context_length=10))
    with pytest.raises(ValueError, match="reads the layers of a transformer"):
        all_edges(without)
