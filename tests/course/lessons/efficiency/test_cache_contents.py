"""The cache that is drawn is the one that the model reads; a roofline is what was timed."""

import numpy as np
import pytest
import torch

from llmviz.course.lessons.efficiency.cache import model as measuring
from llmviz.course.lessons.efficiency.cache.model import (
    BATCHES,
    DECODE,
    PREFILL,
    cache_contents,
    roofline,
)
from llmviz.models.gpt import GPT
from llmviz.models.settings import GPTConfig


@pytest.mark.parametrize(
    "options",
    [{}, dict(n_kv_head=1, positions="rotary"), dict(norm="post"), dict(norm="none")],
    ids=str,
)
def test_what_was_kept_step_by_step_is_what_the_whole_text_gives(options):
    torch.manual_seed(0)
    model = GPT(
        GPTConfig(n_layer=2, n_head=2, n_embd=16, vocab_size=31, context_length=12, **options)
    ).eval()
    found = cache_contents(model, [1, 2, 3], 4)
    assert len(found.ids) == 7 and found.read == 3
    cache = model.new_cache()
    with torch.no_grad():
        logits = model(torch.tensor([found.ids]), cache=cache)[0][0]
    for kept, tensors in ((found.keys, cache.keys), (found.values, cache.values)):
        whole = np.stack([tensor[0, :, :7].numpy() for tensor in tensors])
        np.testing.assert_allclose(kept, whole, atol=1e-5)
    assert logits[2:6].argmax(-1).tolist() == list(found.ids[3:])
    for layer, block in enumerate(model.blocks):
        kept = torch.from_numpy(found.inputs[layer])[None]
        with torch.no_grad():
            _, k, v = block.attn.queries_keys_values(kept)
        np.testing.assert_allclose(k[0], found.keys[layer], atol=1e-5)
        np.testing.assert_allclose(v[0], found.values[layer], atol=1e-5)
    assert found.bytes == found.keys.nbytes + found.values.nbytes


def test_a_full_context_ends_the_writing():
    model = GPT(GPTConfig(n_layer=1, n_head=1, n_embd=8, vocab_size=9, context_length=4)).eval()
    assert len(cache_contents(model, [1, 2, 3], 9).ids) == 4
    assert cache_contents(model, [1, 2, 3, 4], 9).keys.shape == (1, 1, 4, 8)
    assert len(cache_contents(model, [1], 0).ids) == 1
    with pytest.raises(ValueError, match="no token to read"):
        cache_contents(model, [], 3)


def test_the_shortest_time_of_each_counts(monkeypatch):
    monkeypatch.setattr(measuring, "LARGE", 2**12)
    taken = iter([*[4.0, 2.0, 1.0, *[8.0] * 7], *[2.0, 4.0, 2.0, *[2.0] * 7]])
    monkeypatch.setattr(measuring, "_seconds", lambda task: next(taken))
    threads = torch.get_num_threads()
    first, last = roofline("names-gpt", 2)
    assert torch.get_num_threads() == threads
    assert last.operations == 2 * first.operations == 2 * 768**3 / 2.0
    assert last.far == first.far == 2**12 / 2.0
    assert last.near == first.near and last.points[0].seconds == 2.0
    assert [one.phase for one in last.points] == [PREFILL, *[DECODE] * len(BATCHES)]
    assert [one.batch for one in last.points[1:]] == list(BATCHES)
    with pytest.raises(ValueError, match="rounds must be at least 1"):
        next(roofline("names-gpt", 0))
